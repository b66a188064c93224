#!/bin/sh
# Photos as ImageMagick 6 and exiftool write them, and what copying leaves of them. Run in this folder.
set -e
convert -seed 7 -size 120x90 plasma:red-blue -strip -quality 80 rgb.jpg
convert rgb.jpg -strip -interlace JPEG progressive.jpg
convert rgb.jpg -strip -colorspace CMYK cmyk.jpg
convert rgb.jpg -strip PNG24:rgb.png
convert rgb.jpg -strip -quality 60 rgb.webp
convert rgb.jpg -strip rgb.gif
convert rgb.jpg -strip -compress None rgb.tif
for at in 3 6 8; do
  cp rgb.jpg turned-$at.jpg
  exiftool -q -overwrite_original -n -Orientation=$at turned-$at.jpg
done
cp rgb.jpg upright.jpg
exiftool -q -overwrite_original -n -Orientation=1 upright.jpg
cp rgb.png turned.png
exiftool -q -overwrite_original -n -Orientation=6 turned.png
cp rgb.webp turned.webp
exiftool -q -overwrite_original -n -Orientation=8 turned.webp
# A thumbnail has an end of its own.
cp rgb.jpg thumbnail.jpg
convert rgb.jpg -resize 40x30 thumb.tmp.jpg
exiftool -q -overwrite_original "-ThumbnailImage<=thumb.tmp.jpg" thumbnail.jpg
rm thumb.tmp.jpg
cat rgb.jpg progressive.jpg > two.jpg
{ cat rgb.jpg; head -c 600 /dev/zero; } > padded.jpg
half() { head -c $(($(stat -c %s "$1") / 2)) "$1"; }
for file in rgb.jpg rgb.png rgb.webp progressive.jpg thumbnail.jpg rgb.gif rgb.tif; do
  half $file > cut-$file
done
for file in rgb.jpg rgb.png rgb.webp; do
  { half $file; head -c $(($(stat -c %s $file) - $(stat -c %s $file) / 2)) /dev/zero; } > zeros-$file
done
head -c -12 rgb.png > no-iend.png
head -c -2 rgb.jpg > no-eoi.jpg
convert -size 700x900 xc:white \( -size 350x300 plasma:fractal -resize 350x60! \) -composite \
  -quality 5 -define webp:method=0 -define webp:segments=1 plain-bottom.webp
