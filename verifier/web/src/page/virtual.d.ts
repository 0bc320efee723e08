declare module "virtual:words" {
  /** The languages, as vite.config.ts puts them together. */
  const packed: import("../words/load.ts").Packed;
  export default packed;
}
