import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const RGB = 2;
const PALETTE = 3;

/** A picture of few colours, as a browser writes it, with a palette of at most 256: about a third of the size. */
export function smallPng(png) {
  const chunks = [...chunksOf(png)];
  const [[, header]] = chunks;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const channels = header[9] === RGB ? 3 : 4;
  const data = chunks.filter(([type]) => type === 'IDAT').map(([, part]) => part);
  const pixels = unfiltered(inflateSync(Buffer.concat(data)), width * channels, height, channels);
  const counts = new Map();
  const colours = Array.from({ length: width * height }, (_, at) => {
    const colour = pixels.readUIntBE(at * channels, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
    return colour;
  });
  const often = [...counts].sort(([, one], [, other]) => other - one).slice(0, 256);
  const palette = often.map(([colour]) => colour);
  const places = new Map([...counts.keys()].map((colour) => [colour, nearestOf(palette, colour)]));
  const rows = Buffer.alloc((width + 1) * height);
  colours.forEach((colour, at) => {
    rows[at + Math.floor(at / width) + 1] = places.get(colour);
  });
  const start = Buffer.from(header);
  start[8] = 8;
  start[9] = PALETTE;
  const parts = [
    ['IHDR', start],
    ['PLTE', Buffer.from(palette.flatMap(parted))],
    ['IDAT', deflateSync(rows, { level: 9 })],
    ['IEND', Buffer.alloc(0)],
  ];
  return Buffer.concat([SIGNATURE, ...parts.map(chunk)]);
}

/** Red, green and blue. */
function parted(colour) {
  return [colour >> 16, (colour >> 8) & 255, colour & 255];
}

/** Where the colour stands that is most like `colour`. */
function nearestOf(palette, colour) {
  const own = parted(colour);
  const distances = palette.map((each) =>
    parted(each).reduce((sum, value, nth) => sum + (value - own[nth]) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}

function* chunksOf(png) {
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    yield [png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + length)];
    at += length + 12;
  }
}

function chunk([type, data]) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** The bytes of the pixels, each row of which was written as its difference to neighbours. */
function unfiltered(rows, width, height, step) {
  const pixels = Buffer.alloc(width * height);
  for (let y = 0; y < height; y += 1) {
    const filter = rows[y * (width + 1)];
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      const left = x < step ? 0 : pixels[at - step];
      const up = y === 0 ? 0 : pixels[at - width];
      const corner = x < step || y === 0 ? 0 : pixels[at - width - step];
      const near = [0, left, up, (left + up) >> 1, nearest(left, up, corner)][filter];
      pixels[at] = rows[y * (width + 1) + 1 + x] + near;
    }
  }
  return pixels;
}

function nearest(left, up, corner) {
  const [a, b, c] = [left, up, corner].map((each) => Math.abs(left + up - corner - each));
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
