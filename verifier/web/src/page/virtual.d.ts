declare module "virtual:words" {
  /** The languages, packed by vite.config.ts. */
  const packed: string;
  export default packed;
}
