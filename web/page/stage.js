import { h, hideTip, showTip } from "./dom.js";
import { rankColour, themeColours } from "./colours.js";
import { alongCurve, drawArrow, sharpPen, SvgPen, CanvasPen } from "./pen.js";
import { lengthOf } from "./film.js";
import { layOut } from "./layout.js";
import { Board } from "./board.js";
import { Ways } from "./ways.js";
import { letter, subscript } from "./units.js";

// The picture of a film at one moment. A layer with boxes is painted once per round; the arrows and the
// moving messages above it in every frame.

const manyMessages = 260;

export class Stage {
  constructor({ onpick, small = false } = {}) {
    this.still = h("canvas", { class: "still", "aria-hidden": "true" });
    this.moving = h("canvas", { class: "moving", "aria-hidden": "true" });
    this.element = h(
      "div",
      { class: small ? "stage small" : "stage", role: "img", tabindex: "0" },
      this.still,
      this.moving,
    );
    this.onpick = onpick;
    this.marks = new Set(); // Boxes at fault, as rank·chunks + chunk.
    this.element.addEventListener("pointermove", (event) => this.hover(event));
    this.element.addEventListener("pointerleave", () => {
      hideTip();
      if (this.over) this.lift(null);
    });
    this.element.addEventListener("click", (event) => this.pick(event));
    this.watcher = new ResizeObserver(() => this.fit());
    this.watcher.observe(this.element);
  }

  show(film, { layout = "auto", mode = "symbols", follow = null, maxHeight = 640 }) {
    Object.assign(this, { film, mode, follow, maxHeight, kind: layout });
    this.shape = null;
    this.painted = null;
    this.fit();
  }

  fit() {
    if (!this.film) return;
    const width = this.element.clientWidth;
    if (width === 0) return;
    const aspect = Math.min(2.1, Math.max(0.75, width / this.maxHeight));
    const key = `${this.kind}/${aspect.toFixed(1)}`;
    if (this.shape?.key !== key) {
      this.shape = layOut(this.film, this.kind, aspect);
      this.shape.key = key;
      this.ways = new Ways(this.film, this.shape);
      this.board = new Board(this, this.film, this.shape, this.ways);
    }
    // Never larger than 1.5 times its natural size, or few ranks would fill the screen.
    const scale = Math.min(width / this.shape.width, this.maxHeight / this.shape.height, 1.5);
    this.cssWidth = this.shape.width * scale;
    this.cssHeight = this.shape.height * scale;
    for (const canvas of [this.still, this.moving]) {
      canvas.style.width = `${this.cssWidth}px`;
      canvas.style.height = `${this.cssHeight}px`;
    }
    this.element.style.height = `${Math.ceil(this.cssHeight)}px`;
    this.painted = null;
    this.draw(this.time ?? 0);
  }

  // Draws the moment: 2.4 is in the third round, whose messages have gone 0.4 of their way.
  draw(time) {
    if (!this.shape) return;
    this.time = Math.min(Math.max(time, 0), this.film.rounds);
    const round = Math.floor(this.time);
    const part = this.time - round;
    // Towards the end of a round the arriving data is already shown.
    const shown = part > 0.86 ? round + 1 : round;
    if (this.painted !== shown) {
      if (!this.paintStep(shown)) this.board.paint(this.pen(this.still), shown);
      this.painted = shown;
    }
    this.paintMessages(this.pen(this.moving), this.time);
  }

  pen(canvas) {
    return sharpPen(canvas, this.cssWidth, this.cssHeight, this.shape.width);
  }

  // From one round to the next only the boxes that change are painted. False if that does not pay.
  paintStep(round) {
    if (this.painted === null || Math.abs(this.painted - round) !== 1) return false;
    const boxes = this.board.changed(this.painted, round);
    if (boxes.size > (this.film.ranks * this.film.chunks) / 3) return false;
    this.board.paintBoxes(new CanvasPen(this.still.getContext("2d")), round, boxes);
    return true;
  }

  route(from, to, chunk) {
    return this.ways.between(from, to, chunk);
  }

  // The messages of the round in progress, or of the last one.
  messagesAt(time) {
    const round = Math.floor(time);
    if (time > round) return { list: this.film.messages[round] ?? [], part: time - round, round };
    return { list: round > 0 ? this.film.messages[round - 1] : [], part: 1, round: round - 1 };
  }

  paintMessages(pen, time) {
    const { film } = this;
    const theme = themeColours();
    const { list, part, round } = this.messagesAt(time);
    const flying = part < 0.97 && part > 0;
    if (list.length > manyMessages) {
      this.paintCrowd(pen, list, part, flying);
      return;
    }
    for (const message of list) {
      const follows = this.follow === null || film.chunksOf(message).includes(this.follow);
      const path = this.route(message[0], message[1], message[4][0]);
      const strong = this.over === message || this.picked?.message === message[3];
      const colour = strong ? theme.accent : rankColour(this.colourOf(message), film.ranks);
      const alpha = (follows ? 1 : 0.12) * (flying ? 0.55 : 0.9);
      drawArrow(pen, path, {
        stroke: colour,
        line: strong ? 3.4 : film.ranks > 24 ? 1.1 : 2,
        alpha: strong ? 1 : alpha,
        head: film.ranks > 24 ? 5 : 9,
      });
      if (flying && follows) this.paintToken(pen, message, alongCurve(path, ease(part)), colour, theme, round);
    }
  }

  // Too many messages for arrows: all lines of a sender in one stroke, and dots that move along them.
  paintCrowd(pen, list, part, flying) {
    const senders = new Map();
    for (const message of list) {
      const paths = senders.get(message[0]) ?? senders.set(message[0], []).get(message[0]);
      paths.push(this.route(message[0], message[1], message[4][0]));
    }
    for (const [rank, paths] of senders) {
      const colour = rankColour(rank, this.film.ranks);
      if (!flying) pen.curves(paths, { stroke: colour, line: 0.7, alpha: 0.25 });
      else
        pen.dots(
          paths.map((path) => alongCurve(path, ease(part))),
          { fill: colour, radius: 2 },
        );
    }
  }

  colourOf(message) {
    const { film } = this;
    if (film.reduces || film.collective === "barrier") return message[0];
    if (["broadcast", "scatter"].includes(film.collective)) return message[0];
    const symbol = film.runs ? film.held(Math.max(0, this.painted ?? 0))[message[0] * film.chunks + message[4][0]] : 0;
    return symbol && film.isLeaf(symbol) ? film.leaf(symbol)[0] : message[0];
  }

  paintToken(pen, message, [x, y], colour, theme, round) {
    const { film } = this;
    if (film.ranks > 16) {
      pen.circle(x, y, 4, { fill: colour });
      return;
    }
    const words = this.tokenWords(message, round);
    const width = Math.max(16, lengthOf(words) * 7 + 12);
    pen.rect(x - width / 2, y - 9, width, 18, { fill: theme.paper, stroke: colour, line: 2, radius: 9 });
    pen.text(x, y + 0.5, words, { size: 11.5, fill: theme.ink, weight: 600 });
  }

  tokenWords(message, round) {
    const { film } = this;
    const count = film.chunkCount(message);
    if (film.collective === "barrier") return letter(message[0]);
    if (count > 1) return `${count} chunks`;
    if (!film.runs) return film.chunks === 1 ? letter(message[0]) : `#${message[4][0]}`;
    const held = film.held(this.painted === round + 1 ? round + 1 : round);
    const symbol = held[message[0] * film.chunks + message[4][0]];
    if (symbol === 0) return "nothing";
    if (this.mode === "values") return film.valueText(symbol);
    return film.short(symbol, film.ranks <= 8 ? 11 : 7) || subscript(message[4][0]);
  }

  // Pointing --------------------------------------------------------------------------------

  // What is at a point of the element: a box, a card, or a message.
  find(event) {
    const bounds = this.still.getBoundingClientRect();
    const scale = this.shape.width / bounds.width;
    const x = (event.clientX - bounds.left) * scale;
    const y = (event.clientY - bounds.top) * scale;
    for (const card of this.shape.cards) {
      if (x < card.left - 3 || x > card.left + card.w + 3 || y < card.top - 2 || y > card.top + card.h + 3) continue;
      const [w, hgt] = card.box.cell;
      const count = card.part === undefined ? (this.film.pairs ? this.film.ranks ** 2 : this.film.chunks) : 1;
      for (let i = 0; i < count; ++i) {
        const chunk = card.part ?? i;
        const [dx, dy] = card.box.place(chunk);
        if (x >= card.left + dx && x < card.left + dx + w && y >= card.top + dy && y < card.top + dy + hgt)
          return { rank: card.rank, chunk };
      }
      return { rank: card.rank };
    }
    const { list } = this.messagesAt(this.time);
    if (list.length > manyMessages) return null;
    let best = null;
    let least = 9 * Math.max(1, scale);
    for (const message of list) {
      const path = this.route(message[0], message[1], message[4][0]);
      for (let i = 0; i <= 24; ++i) {
        const [px, py] = alongCurve(path, i / 24);
        const distance = Math.hypot(px - x, py - y);
        if (distance < least) [best, least] = [message, distance];
      }
    }
    return best ? { message: best } : null;
  }

  words(found) {
    const { film } = this;
    const round = Math.floor(this.time);
    if (found.message) return film.messageWords(found.message, this.messagesAt(this.time).round);
    if (found.chunk === undefined || !film.runs) return `rank ${found.rank}`;
    const symbol = film.held(this.painted ?? round)[found.rank * film.chunks + found.chunk];
    const where = film.pairs
      ? `rank ${found.rank}, block from ${Math.floor(found.chunk / film.ranks)} to ${found.chunk % film.ranks}`
      : `rank ${found.rank}, chunk ${found.chunk}`;
    if (symbol === 0) return `${where}: nothing yet`;
    const text = film.expression(symbol);
    const value = this.mode === "values" ? ` = ${film.valueText(symbol)}` : "";
    return `${where}: ${text.length > 160 ? `${film.contributors(symbol)} contributions` : text}${value}`;
  }

  hover(event) {
    if (!this.shape) return;
    const found = this.find(event);
    this.element.style.cursor = found ? "pointer" : "";
    if (found) showTip(this.words(found), event.clientX, event.clientY);
    else hideTip();
    if ((found?.message ?? null) !== (this.over ?? null)) this.lift(found?.message ?? null);
  }

  lift(message) {
    this.over = message;
    this.draw(this.time);
  }

  pick(event) {
    const found = this.find(event);
    this.onpick?.(found);
  }

  setPicked(picked) {
    this.picked = picked;
    this.painted = null;
    this.draw(this.time ?? 0);
  }

  // The picture as SVG, for files and for paper.
  svg(time, title) {
    const pen = new SvgPen();
    const before = this.painted;
    this.board.paint(pen, Math.floor(time));
    this.painted = Math.floor(time);
    this.paintMessages(pen, time);
    this.painted = before;
    return pen.document(this.shape.width, this.shape.height, title);
  }

  // The picture painted on a canvas of this width, for PNG and GIF.
  bitmap(time, width) {
    const canvas = h("canvas", { width, height: Math.round((width * this.shape.height) / this.shape.width) });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const scale = width / this.shape.width;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = themeColours().paper;
    context.fillRect(0, 0, this.shape.width, this.shape.height + 1);
    const pen = new CanvasPen(context);
    const before = this.painted;
    const round = Math.floor(time);
    this.painted = time - round > 0.86 ? round + 1 : round;
    this.board.paint(pen, this.painted);
    this.paintMessages(pen, time);
    this.painted = before;
    return canvas;
  }

  close() {
    this.watcher.disconnect();
  }
}

function ease(part) {
  return part < 0.5 ? 2 * part * part : 1 - (2 - 2 * part) ** 2 / 2;
}
