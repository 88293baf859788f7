// An encoder of animated GIFs: a palette of 256 colours for all frames, and LZW.

// Bytes that grow.
class Bytes {
  constructor() {
    this.list = new Uint8Array(1 << 16);
    this.size = 0;
  }

  add(...bytes) {
    for (const each of bytes) {
      if (this.size === this.list.length) {
        const larger = new Uint8Array(2 * this.list.length);
        larger.set(this.list);
        this.list = larger;
      }
      this.list[this.size++] = each;
    }
  }

  short(value) {
    this.add(value & 255, value >> 8);
  }

  text(words) {
    for (const each of words) this.add(each.charCodeAt(0));
  }

  done() {
    return this.list.subarray(0, this.size);
  }
}

// The colours that occur most, in 5 bits per channel, of a sample of the frames. The others become the
// nearest of these: drawings have few colours.
function paletteOf(images) {
  const counts = new Map();
  const step = Math.max(1, Math.floor(images.length / 8));
  for (let i = 0; i < images.length; i += step) {
    const { data } = images[i];
    for (let at = 0; at < data.length; at += 4) {
      const key = ((data[at] >> 3) << 10) | ((data[at + 1] >> 3) << 5) | (data[at + 2] >> 3);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  const best = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 256);
  return best.map(([key]) => [(key >> 10) & 31, (key >> 5) & 31, key & 31].map((each) => (each << 3) | (each >> 2)));
}

class Matcher {
  constructor(palette) {
    this.palette = palette;
    this.known = new Int16Array(1 << 15).fill(-1);
  }

  index(red, green, blue) {
    const key = ((red >> 3) << 10) | ((green >> 3) << 5) | (blue >> 3);
    if (this.known[key] >= 0) return this.known[key];
    let best = 0;
    let least = Infinity;
    this.palette.forEach(([r, g, b], i) => {
      const distance = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
      if (distance < least) [best, least] = [i, distance];
    });
    this.known[key] = best;
    return best;
  }
}

const codeSize = 8;

function compress(indices, out) {
  const clear = 1 << codeSize;
  const end = clear + 1;
  let table = new Map();
  let next = end + 1;
  let bits = codeSize + 1;
  let buffer = 0;
  let filled = 0;
  let block = [];
  const flush = () => {
    if (block.length === 0) return;
    out.add(block.length, ...block);
    block = [];
  };
  const emit = (code) => {
    buffer |= code << filled;
    filled += bits;
    while (filled >= 8) {
      block.push(buffer & 255);
      if (block.length === 255) flush();
      buffer >>>= 8;
      filled -= 8;
    }
  };
  out.add(codeSize);
  emit(clear);
  let prefix = indices[0];
  for (let i = 1; i < indices.length; ++i) {
    const key = (prefix << 8) | indices[i];
    const found = table.get(key);
    if (found !== undefined) {
      prefix = found;
      continue;
    }
    emit(prefix);
    if (next === 4096) {
      emit(clear);
      table = new Map();
      next = end + 1;
      bits = codeSize + 1;
    } else {
      if (next === 1 << bits) ++bits;
      table.set(key, next++);
    }
    prefix = indices[i];
  }
  emit(prefix);
  emit(end);
  if (filled > 0) block.push(buffer & 255);
  flush();
  out.add(0);
}

// frames: { canvas, delay in hundredths of a second }.
export function encodeGif(frames) {
  const { width, height } = frames[0].canvas;
  const images = frames.map(({ canvas }) => canvas.getContext("2d").getImageData(0, 0, width, height));
  const palette = paletteOf(images);
  const matcher = new Matcher(palette);
  const out = new Bytes();
  out.text("GIF89a");
  out.short(width);
  out.short(height);
  out.add(0xf7, 0, 0);
  for (let i = 0; i < 256; ++i) out.add(...(palette[i] ?? [0, 0, 0]));
  out.add(0x21, 0xff, 11);
  out.text("NETSCAPE2.0");
  out.add(3, 1, 0, 0, 0); // Repeat for ever.
  images.forEach(({ data }, i) => {
    out.add(0x21, 0xf9, 4, 0x04);
    out.short(frames[i].delay);
    out.add(0, 0, 0x2c);
    out.short(0);
    out.short(0);
    out.short(width);
    out.short(height);
    out.add(0);
    const indices = new Uint8Array(width * height);
    for (let at = 0; at < indices.length; ++at)
      indices[at] = matcher.index(data[4 * at], data[4 * at + 1], data[4 * at + 2]);
    compress(indices, out);
  });
  out.add(0x3b);
  return new Blob([out.done()], { type: "image/gif" });
}
