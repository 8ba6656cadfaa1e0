#!/bin/sh
# Packs plain.log in the ways that common programs know. Run in this directory; needs GNU tar, Info-ZIP zip, gzip, xz,
# zstd and python3. The results are committed, so that the tests need none of them.
set -eu
find . -type f ! -name make.sh ! -name README.md ! -name plain.log -delete
work=$(mktemp -d)
here=$PWD
mkdir -p "$work/run/logs"
cp plain.log "$work/run/logs/node_decode_w0.out"
long=$(printf 'a%.0s' $(seq 120))
cd "$work"

# pack FORMAT DIRECTORY [OPTION]: the same bytes whoever runs it, but for a process number in names of sparse files.
pack() {
    format=$1 directory=$2
    shift 2
    [ "$format" != pax ] || set -- "$@" --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime
    tar --owner=0 --group=0 --mtime=2026-10-12 --sort=name --format="$format" "$@" -c "$directory" | gzip -9cn
}

gzip -9cn run/logs/node_decode_w0.out >"$here/gzip"
zstd -q19c run/logs/node_decode_w0.out >"$here/zstd-19-checksum"
zstd -q --no-check -c <run/logs/node_decode_w0.out >"$here/zstd-stdin"
zstd -q --long=26 -c <run/logs/node_decode_w0.out >"$here/zstd-long-26"
xz -9ec run/logs/node_decode_w0.out >"$here/xz-9e"
xz -0c --check=sha256 run/logs/node_decode_w0.out >"$here/xz-0-sha256"
xz -1c --check=none --x86 --lzma2 run/logs/node_decode_w0.out >"$here/xz-x86"

for format in gnu pax ustar; do
    pack $format run >"$here/tar-$format.gz"
done
mkdir "$work/long" && cp run/logs/node_decode_w0.out "$work/long/$long.log"
pack gnu long >"$here/tar-gnu-long-name.gz"
pack pax long >"$here/tar-pax-long-name.gz"
mkdir "$work/sparse" && cp run/logs/node_decode_w0.out "$work/sparse/a.log"
for hole in 1 2 3 4 5 6; do
    printf x | dd of="$work/sparse/b" bs=1 seek=$((hole * 1000000)) conv=notrunc 2>/dev/null
done
: >"$work/sparse/c"
pack gnu sparse -S >"$here/tar-gnu-sparse.gz"
pack pax sparse -S >"$here/tar-pax-sparse.gz"
mkdir "$work/links" && cp run/logs/node_decode_w0.out "$work/links/a.log"
ln "$work/links/a.log" "$work/links/hard" && ln -s a.log "$work/links/soft"
pack gnu links >"$here/tar-links.gz"

find run -exec touch -d '2026-10-12 01:02:04' {} +
zip -q -X -r "$here/zip" run && mv "$here/zip.zip" "$here/zip"
zip -q -X -r - run | cat >"$here/zip-stream"
zip -q -X -0 -r "$here/zip-stored" run && mv "$here/zip-stored.zip" "$here/zip-stored"
python3 - "$here" <<'PYTHON'
import io, sys, zipfile
log = open("run/logs/node_decode_w0.out", "rb").read()

class Pipe(io.RawIOBase):
    def __init__(self, out): self.out = out
    def writable(self): return True
    def write(self, data): return self.out.write(data)

def entry(name):
    info = zipfile.ZipInfo(name, (2026, 10, 12, 1, 2, 4))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.extra = b"\x99\x99\x04\x00junk"
    info.comment = b"what is said of an entry"
    return info

with open(sys.argv[1] + "/zip-python-zip64", "wb") as out, zipfile.ZipFile(Pipe(out), "w") as archive:
    with archive.open(entry("run/logs/node_decode_w0.out"), "w", force_zip64=True) as file:
        file.write(log)
    archive.comment = b"what is said of an archive"
PYTHON
rm -r "$work"
