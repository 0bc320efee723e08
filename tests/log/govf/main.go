// Command govf replays a tlog-tiles log from its files, with x/mod's note and tlog.
//
//	govf VKEY DIR [OLD-CHECKPOINT...]
//
// It takes nothing from a hash tile on trust: all hashes are computed again from the entries, and
// every tile is compared with them. (tlog.TileHashReader of the x/mod that Debian ships does not
// hold some tiles against their parents: an entry that was changed together with its leaf's hash
// in the tile passes it.)
package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const height = 8

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: govf VKEY DIR [OLD-CHECKPOINT...]")
		os.Exit(2)
	}
	tree, err := verify(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Println("refused:", err)
		os.Exit(1)
	}
	fmt.Println("accepted:", tree.N, tree.Hash)
}

func verify(vkey, dir string, olds []string) (tree tlog.Tree, err error) {
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return tree, fmt.Errorf("the key: %v", err)
	}
	tree, err = checkpoint(verifier, filepath.Join(dir, "checkpoint"))
	if err != nil {
		return tree, err
	}
	stored, err := replay(dir, tree.N)
	if err != nil {
		return tree, err
	}
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, 0, len(indexes))
		for _, index := range indexes {
			if index >= int64(len(stored)) {
				return nil, fmt.Errorf("there is no hash %d", index)
			}
			found = append(found, stored[index])
		}
		return found, nil
	})
	root, err := tlog.TreeHash(tree.N, reader)
	if err != nil {
		return tree, err
	}
	if root != tree.Hash {
		return tree, fmt.Errorf("the entries do not give the checkpoint's root")
	}
	if err := tiles(dir, tree.N, reader); err != nil {
		return tree, err
	}
	for _, path := range olds {
		old, err := checkpoint(verifier, path)
		if err != nil {
			return tree, err
		}
		if err := extends(tree, old, reader); err != nil {
			return tree, fmt.Errorf("the log of %d does not extend the one of %d: %v", tree.N, old.N, err)
		}
	}
	return tree, nil
}

// checkpoint reads a signed note: exactly origin, size and root, the origin being the key's name.
func checkpoint(verifier note.Verifier, path string) (tree tlog.Tree, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return tree, err
	}
	opened, err := note.Open(data, note.VerifierList(verifier))
	if err != nil {
		return tree, fmt.Errorf("the signature: %v", err)
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() {
		return tree, fmt.Errorf("the checkpoint is not of this log")
	}
	tree.N, err = strconv.ParseInt(lines[1], 10, 64)
	if err != nil || strconv.FormatInt(tree.N, 10) != lines[1] || tree.N < 0 {
		return tree, fmt.Errorf("the checkpoint's size is no number")
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != tlog.HashSize {
		return tree, fmt.Errorf("the checkpoint's root is no hash")
	}
	copy(tree.Hash[:], root)
	return tree, nil
}

// replay computes every stored hash from the entries.
func replay(dir string, size int64) ([]tlog.Hash, error) {
	stored := make([]tlog.Hash, 0, tlog.StoredHashCount(size))
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			found[i] = stored[index]
		}
		return found, nil
	})
	for start := int64(0); start < size; start += 1 << height {
		width := size - start
		if width > 1<<height {
			width = 1 << height
		}
		name := path("entries", start>>height, width)
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		for i := int64(0); i < width; i++ {
			if len(data) < 2 || len(data)-2 < int(data[0])<<8|int(data[1]) {
				return nil, fmt.Errorf("the bundle %s is cut off", name)
			}
			end := 2 + (int(data[0])<<8 | int(data[1]))
			hashes, err := tlog.StoredHashesForRecordHash(start+i, tlog.RecordHash(data[2:end]), reader)
			if err != nil {
				return nil, err
			}
			stored = append(stored, hashes...)
			data = data[end:]
		}
		if len(data) > 0 {
			return nil, fmt.Errorf("the bundle %s is too long", name)
		}
	}
	return stored, nil
}

// tiles compares every tile of hashes with what the entries give.
func tiles(dir string, size int64, reader tlog.HashReader) error {
	for level := 0; size>>(height*uint(level)) > 0; level++ {
		count := size >> (height * uint(level))
		for number := int64(0); number<<height < count; number++ {
			width := count - number<<height
			if width > 1<<height {
				width = 1 << height
			}
			name := path(strconv.Itoa(level), number, width)
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			wanted, err := tlog.ReadTileData(tlog.Tile{H: height, L: level, N: number, W: int(width)}, reader)
			if err != nil {
				return err
			}
			if !bytes.Equal(data, wanted) {
				return fmt.Errorf("the tile %s is not what the entries give", name)
			}
		}
	}
	return nil
}

// extends says whether the older tree is the beginning of the newer one, twice: from the entries,
// and by a proof as RFC 6962 has it.
func extends(tree, old tlog.Tree, reader tlog.HashReader) error {
	if old.N > tree.N {
		return fmt.Errorf("it is longer")
	}
	if old.N == 0 {
		return nil
	}
	root, err := tlog.TreeHash(old.N, reader)
	if err != nil {
		return err
	}
	if root != old.Hash {
		return fmt.Errorf("the first %d entries have another root", old.N)
	}
	proof, err := tlog.ProveTree(tree.N, old.N, reader)
	if err != nil {
		return err
	}
	return tlog.CheckTree(proof, tree.N, tree.Hash, old.N, old.Hash)
}

// path is tlog-tiles' name of a tile; x/mod's own names have the height in them.
func path(level string, number, width int64) string {
	name := fmt.Sprintf("%03d", number%1000)
	for number /= 1000; number > 0; number /= 1000 {
		name = fmt.Sprintf("x%03d/%s", number%1000, name)
	}
	name = "tile/" + level + "/" + name
	if width < 1<<height {
		name += fmt.Sprintf(".p/%d", width)
	}
	return name
}
