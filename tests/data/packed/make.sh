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

gzip -9cn run/logs/node_decode_w0.out >"$here/gzip"
zstd -q19c run/logs/node_decode_w0.out >"$here/zstd-19-checksum"
zstd -q --no-check -c <run/logs/node_decode_w0.out >"$here/zstd-stdin"
zstd -q --long=26 -c <run/logs/node_decode_w0.out >"$here/zstd-long-26"
xz -9ec run/logs/node_decode_w0.out >"$here/xz-9e"
xz -0c --check=sha256 run/logs/node_decode_w0.out >"$here/xz-0-sha256"
xz -1c --check=none --x86 --lzma2 run/logs/node_decode_w0.out >"$here/xz-x86"

fixed="--owner=0 --group=0 --mtime=2026-10-12 --sort=name"
for format in gnu pax ustar; do
    tar $fixed --format=$format -c run | gzip -9cn >"$here/tar-$format.gz"
done
mkdir "$work/long" && cp run/logs/node_decode_w0.out "$work/long/$long.log"
tar $fixed --format=gnu -c long | gzip -9cn >"$here/tar-gnu-long-name.gz"
tar $fixed --format=pax -c long | gzip -9cn >"$here/tar-pax-long-name.gz"
mkdir "$work/sparse" && cp run/logs/node_decode_w0.out "$work/sparse/a.log"
for hole in 1 2 3 4 5 6; do
    printf x | dd of="$work/sparse/b" bs=1 seek=$((hole * 1000000)) conv=notrunc 2>/dev/null
done
cp run/logs/node_decode_w0.out "$work/sparse/c" && : >"$work/sparse/c"
tar $fixed --format=gnu -S -c sparse | gzip -9cn >"$here/tar-gnu-sparse.gz"
tar $fixed --format=pax -S -c sparse | gzip -9cn >"$here/tar-pax-sparse.gz"
mkdir "$work/links" && cp run/logs/node_decode_w0.out "$work/links/a.log"
ln "$work/links/a.log" "$work/links/hard" && ln -s a.log "$work/links/soft"
tar $fixed -c links | gzip -9cn >"$here/tar-links.gz"

zip -q -X -r "$here/zip" run && mv "$here/zip.zip" "$here/zip" 2>/dev/null || true
zip -q -X -r - run | cat >"$here/zip-stream"
zip -q -X -0 -r "$here/zip-stored" run && mv "$here/zip-stored.zip" "$here/zip-stored" 2>/dev/null || true
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
    return info

with open(sys.argv[1] + "/zip-python-zip64", "wb") as out, zipfile.ZipFile(Pipe(out), "w") as archive:
    with archive.open(entry("run/logs/node_decode_w0.out"), "w", force_zip64=True) as file:
        file.write(log)
PYTHON
rm -r "$work"
