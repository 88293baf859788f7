import { letter, subscript } from "./units.js";

// A schedule as a film: what every rank holds after each round, from the library's symbolic run.

const leafWords = 2;

function bitsIn(word) {
  let bits = word >>> 0;
  let count = 0;
  while (bits) {
    bits = (bits & (bits - 1)) >>> 0;
    ++count;
  }
  return count;
}

// In letters; a subscript is narrower.
export function lengthOf(text) {
  const narrow = text.match(/[₀-₉]/g)?.length ?? 0;
  return text.length - 0.42 * narrow;
}

export class Film {
  constructor(answer, values) {
    Object.assign(this, { ...answer });
    this.values = values;
    this.reduces = ["reduce", "allreduce", "reduce_scatter", "barrier"].includes(this.collective);
    this.pairs = this.collective === "alltoall";
    if (this.runs) this.readSymbols();
    this.readMessages();
  }

  readSymbols() {
    const { leaves, folds } = this.symbols;
    const count = 1 + leaves.length / leafWords + folds.length;
    this.leafCount = leaves.length / leafWords;
    this.low = new Uint32Array(count); // The ranks that contributed, as bits.
    this.high = new Uint32Array(count);
    this.parts = new Uint32Array(count); // Contributions, with repetitions.
    for (let i = 0; i < this.leafCount; ++i) {
      const rank = leaves[leafWords * i];
      (rank < 32 ? this.low : this.high)[i + 1] = 2 ** (rank % 32);
      this.parts[i + 1] = 1;
    }
    folds.forEach((operands, i) => {
      const symbol = 1 + this.leafCount + i;
      for (const each of operands) {
        this.low[symbol] |= this.low[each];
        this.high[symbol] |= this.high[each];
        this.parts[symbol] += this.parts[each];
      }
    });
    this.counts = Uint8Array.from(this.low, (low, i) => bitsIn(low) + bitsIn(this.high[i]));
    this.middles = new Int16Array(count).fill(-1);
    this.start0 = new Int32Array(this.ranks * this.chunks);
    this.start.forEach((held, rank) => {
      const [first, , stride] = this.inputs[rank];
      held.forEach((symbol, i) => (this.start0[rank * this.chunks + first + i * stride] = symbol));
    });
    // States are kept every few rounds, so that the scrubber can go back in a large film.
    this.stride = Math.max(1, Math.ceil((this.start0.length * this.rounds) / 6e6));
    this.kept = [this.start0];
    this.at = -1;
    this.aside = new Map();
  }

  readMessages() {
    this.pairsUsed = new Map(); // "from,to" → number of messages.
    this.total = 0;
    for (const round of this.messages) {
      for (const [from, to] of round) {
        const key = `${from},${to}`;
        this.pairsUsed.set(key, (this.pairsUsed.get(key) ?? 0) + 1);
        ++this.total;
      }
    }
  }

  // What is held after `round` rounds: symbols by rank and chunk. Valid until the next call.
  held(round) {
    if (this.at === round) return this.now;
    let from = Math.min(Math.floor(round / this.stride), this.kept.length - 1) * this.stride;
    let now = this.now;
    if (this.at < 0 || this.at > round || this.at < from) {
      now = Int32Array.from(this.kept[from / this.stride]);
    } else {
      from = this.at;
    }
    for (let k = from; k < round; ++k) {
      const changes = this.changes[k];
      for (let i = 0; i < changes.length; i += 4) {
        if (changes[i + 2] === 0) now[changes[i] * this.chunks + changes[i + 1]] = changes[i + 3];
      }
      if ((k + 1) % this.stride === 0 && this.kept.length === (k + 1) / this.stride)
        this.kept.push(Int32Array.from(now));
    }
    this.now = now;
    this.at = round;
    return now;
  }

  // The boxes that the round before `round` changed.
  fresh(round) {
    const found = new Set();
    if (!this.runs || round < 1 || round > this.rounds) return found;
    const changes = this.changes[round - 1];
    for (let i = 0; i < changes.length; i += 4)
      if (changes[i + 2] === 0) found.add(changes[i] * this.chunks + changes[i + 1]);
    return found;
  }

  // Versions that a rank keeps beside the chunk itself after `round` rounds.
  besides(round, rank, chunk) {
    const found = new Map();
    for (let k = 0; k < round; ++k) {
      const changes = this.changes[k];
      for (let i = 0; i < changes.length; i += 4) {
        if (changes[i] === rank && changes[i + 1] === chunk && changes[i + 2] !== 0)
          found.set(changes[i + 2], changes[i + 3]);
      }
    }
    return [...found.values()];
  }

  has(symbol, rank) {
    return ((rank < 32 ? this.low : this.high)[symbol] >>> (rank % 32)) & 1;
  }

  contributors(symbol) {
    return this.counts[symbol];
  }

  // The rank in the middle of those that contributed.
  middle(symbol) {
    if (this.middles[symbol] < 0) {
      const ranks = this.ranksIn(symbol);
      this.middles[symbol] = ranks[ranks.length >> 1];
    }
    return this.middles[symbol];
  }

  ranksIn(symbol) {
    const found = [];
    for (let rank = 0; rank < this.ranks; ++rank) if (this.has(symbol, rank)) found.push(rank);
    return found;
  }

  isLeaf(symbol) {
    return symbol <= this.leafCount;
  }

  leaf(symbol) {
    return [this.symbols.leaves[2 * symbol - 2], this.symbols.leaves[2 * symbol - 1]];
  }

  operands(symbol) {
    return this.isLeaf(symbol) ? [] : this.symbols.folds[symbol - 1 - this.leafCount];
  }

  wanted(rank, chunk) {
    const [first, count, stride] = this.outputs[rank];
    const distance = chunk - first;
    return distance >= 0 && distance % stride === 0 && distance / stride < count;
  }

  // Whether the box holds all that the collective asks of it.
  complete(rank, chunk, symbol) {
    if (symbol === 0 || !this.wanted(rank, chunk)) return false;
    if (!this.reduces) return true;
    if (this.contributors(symbol) !== this.ranks) return false;
    return this.collective === "barrier" || this.parts[symbol] === this.ranks;
  }

  leafName(rank, chunk) {
    if (this.collective === "barrier") return letter(rank);
    if (this.chunks === 1) return letter(rank);
    return letter(rank) + subscript(this.pairs ? chunk % this.ranks : chunk);
  }

  // The whole expression: "a₀+(b₀+c₀)".
  expression(symbol, depth = 0) {
    if (symbol === 0) return "";
    if (this.isLeaf(symbol)) return this.leafName(...this.leaf(symbol));
    if (depth > 40) return "…";
    const words = this.operands(symbol).map((each) => this.expression(each, depth + 1));
    const text = words.join("+");
    return depth === 0 ? text : `(${text})`;
  }

  // The same without brackets, in at most `room` letters.
  short(symbol, room) {
    if (symbol === 0) return "";
    if (this.isLeaf(symbol)) return this.leafName(...this.leaf(symbol));
    const chunk = this.leaf(this.firstLeaf(symbol))[1];
    const ranks = this.ranksIn(symbol);
    const names = this.leaves(symbol).map((each) => this.leafName(...this.leaf(each)));
    const plain = names.join("+");
    if (lengthOf(plain) <= room) return plain;
    if (ranks.length === this.ranks) return this.chunks === 1 ? "Σ" : `Σ${subscript(chunk)}`;
    const dots = `${names[0]}+…+${names.at(-1)}`;
    if (lengthOf(dots) <= room) return dots;
    return `${ranks.length}/${this.ranks}`;
  }

  // The contributions from left to right, at most 70: a damaged schedule may repeat them.
  leaves(symbol, into = []) {
    if (into.length > 70) return into;
    if (this.isLeaf(symbol)) into.push(symbol);
    else for (const each of this.operands(symbol)) this.leaves(each, into);
    return into;
  }

  firstLeaf(symbol) {
    let at = symbol;
    while (!this.isLeaf(at)) at = this.operands(at)[0];
    return at;
  }

  // The numbers of a contribution: the part of the rank's vector that the chunk covers.
  leafValue(rank, chunk) {
    const given = this.values?.[rank];
    const index = this.pairs ? chunk % this.ranks : chunk;
    const chunks = this.pairs ? this.ranks : this.chunks;
    if (!given) return [rank * chunks + index + 1];
    if (given.length <= chunks) return [given[index] ?? 0];
    const size = Math.floor(given.length / chunks);
    const longer = given.length % chunks;
    const from = index * size + Math.min(index, longer);
    return given.slice(from, from + size + (index < longer ? 1 : 0));
  }

  value(symbol) {
    this.numbers ??= new Map();
    if (symbol === 0) return null;
    let found = this.numbers.get(symbol);
    if (found) return found;
    if (this.isLeaf(symbol)) {
      found = this.leafValue(...this.leaf(symbol));
    } else {
      // In the order of the fold, as the executor adds.
      found = this.operands(symbol)
        .map((each) => this.value(each) ?? [0])
        .reduce((sum, each) => sum.map((one, i) => one + each[i]));
    }
    this.numbers.set(symbol, found);
    return found;
  }

  valueText(symbol) {
    const numbers = this.value(symbol);
    return numbers
      ? numbers.map((each) => (Number.isInteger(each) ? String(each) : String(Number(each.toPrecision(6))))).join(" ")
      : "";
  }

  // The chunks of a message as a list.
  chunksOf(message) {
    const found = [];
    const ranges = message[4];
    for (let i = 0; i < ranges.length; i += 2) for (let k = 0; k < ranges[i + 1]; ++k) found.push(ranges[i] + k);
    return found;
  }

  chunkCount(message) {
    let count = 0;
    for (let i = 1; i < message[4].length; i += 2) count += message[4][i];
    return count;
  }

  chunkWords(message) {
    const words = [];
    const ranges = message[4];
    for (let i = 0; i < ranges.length; i += 2)
      words.push(ranges[i + 1] === 1 ? `${ranges[i]}` : `${ranges[i]}–${ranges[i] + ranges[i + 1] - 1}`);
    if (this.collective === "barrier") return "a signal";
    if (this.chunks === 1) return "everything";
    return `${this.chunkCount(message) === 1 ? "chunk" : "chunks"} ${words.join(", ")}`;
  }

  // What the round does, in one line.
  roundWords(round) {
    if (round === 0) return "At the start, every rank holds its input.";
    const messages = this.messages[round - 1] ?? [];
    const adds = messages.filter((each) => each[2]).length;
    const what = adds === 0 ? "copied" : adds === messages.length ? "added to what is there" : "added or copied";
    return `Round ${round} of ${this.rounds}: ${messages.length === 1 ? "1 message" : `${messages.length} messages`}, ${what}.`;
  }

  messageWords(message, round) {
    const [from, to, adds] = message;
    const words = `rank ${from} → rank ${to}: ${this.chunkWords(message)}${adds ? ", added" : ""}`;
    if (!this.runs || this.chunkCount(message) !== 1) return words;
    const symbol = this.held(round)[from * this.chunks + message[4][0]];
    return `${words}: ${this.mode === "values" ? this.valueText(symbol) : this.short(symbol, 40)}`;
  }
}

// "1,2,3,4; 5,6,7,8" → a list of numbers for each rank; null if there are none.
export function parseValues(text) {
  const rows = text
    .split(/[;\n|]/)
    .map((row) =>
      row
        .split(/[\s,]+/)
        .filter(Boolean)
        .map(Number),
    )
    .filter((row) => row.length > 0);
  return rows.length > 0 && rows.every((row) => row.every(Number.isFinite)) ? rows : null;
}
