import { themeColours } from "./colours.js";

// Drawings are written once, for two pens: one paints on a canvas, which is fast; the other writes SVG, for
// files and paper.

const family = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

export class CanvasPen {
  constructor(context) {
    this.context = context;
  }

  rect(x, y, width, height, { fill, stroke, line = 1, radius = 0, alpha = 1, dash = null }) {
    const { context } = this;
    if (alpha !== 1) context.globalAlpha = alpha;
    if (radius === 0 && !stroke) {
      context.fillStyle = fill;
      context.fillRect(x, y, width, height);
    } else {
      context.beginPath();
      context.roundRect(x, y, width, height, radius);
      if (fill) {
        context.fillStyle = fill;
        context.fill();
      }
      if (stroke) {
        if (dash) context.setLineDash(dash);
        context.strokeStyle = stroke;
        context.lineWidth = line;
        context.stroke();
        if (dash) context.setLineDash([]);
      }
    }
    if (alpha !== 1) context.globalAlpha = 1;
  }

  text(x, y, words, { size, fill, anchor = "middle", weight = 400, alpha = 1 }) {
    const { context } = this;
    const font = `${weight} ${size}px ${family}`;
    if (this.font !== font) context.font = this.font = font;
    context.textAlign = anchor === "middle" ? "center" : anchor === "end" ? "right" : "left";
    context.textBaseline = "middle";
    if (alpha !== 1) context.globalAlpha = alpha;
    context.fillStyle = fill;
    context.fillText(words, x, y);
    if (alpha !== 1) context.globalAlpha = 1;
  }

  // Points of a line, or [start, control, end] of a curve with `curve`.
  line(points, { stroke, line = 1, alpha = 1, dash = null, curve = false, cap = "round" }) {
    const { context } = this;
    context.beginPath();
    context.moveTo(points[0][0], points[0][1]);
    if (curve) context.quadraticCurveTo(points[1][0], points[1][1], points[2][0], points[2][1]);
    else for (const [x, y] of points.slice(1)) context.lineTo(x, y);
    context.globalAlpha = alpha;
    context.strokeStyle = stroke;
    context.lineWidth = line;
    context.lineCap = cap;
    if (dash) context.setLineDash(dash);
    context.stroke();
    if (dash) context.setLineDash([]);
    context.globalAlpha = 1;
  }

  // Many curves in one stroke, and many dots in one fill.
  curves(paths, { stroke, line = 1, alpha = 1 }) {
    const { context } = this;
    context.beginPath();
    for (const [from, control, to] of paths) {
      context.moveTo(from[0], from[1]);
      context.quadraticCurveTo(control[0], control[1], to[0], to[1]);
    }
    context.globalAlpha = alpha;
    context.strokeStyle = stroke;
    context.lineWidth = line;
    context.stroke();
    context.globalAlpha = 1;
  }

  dots(points, { fill, radius }) {
    const { context } = this;
    context.fillStyle = fill;
    for (const [x, y] of points) context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
  }

  polygon(points, { fill, alpha = 1 }) {
    const { context } = this;
    context.beginPath();
    points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    context.closePath();
    context.globalAlpha = alpha;
    context.fillStyle = fill;
    context.fill();
    context.globalAlpha = 1;
  }

  circle(x, y, radius, { fill, stroke, line = 1, alpha = 1 }) {
    const { context } = this;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.globalAlpha = alpha;
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke) {
      context.strokeStyle = stroke;
      context.lineWidth = line;
      context.stroke();
    }
    context.globalAlpha = 1;
  }
}

const round = (value) => Math.round(value * 100) / 100;
const safe = (text) =>
  String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

export class SvgPen {
  constructor() {
    this.parts = [];
  }

  add(name, attributes, words) {
    const list = Object.entries(attributes)
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([key, value]) => ` ${key}="${typeof value === "number" ? round(value) : safe(value)}"`);
    this.parts.push(
      words === undefined ? `<${name}${list.join("")}/>` : `<${name}${list.join("")}>${safe(words)}</${name}>`,
    );
  }

  rect(x, y, width, height, { fill = "none", stroke, line = 1, radius = 0, alpha = 1, dash = null }) {
    this.add("rect", {
      x,
      y,
      width,
      height,
      rx: radius || null,
      fill: fill ?? "none",
      stroke,
      "stroke-width": stroke ? line : null,
      opacity: alpha === 1 ? null : alpha,
      "stroke-dasharray": dash?.join(" "),
    });
  }

  text(x, y, words, { size, fill, anchor = "middle", weight = 400, alpha = 1 }) {
    this.add(
      "text",
      {
        x,
        y: y + size * 0.35,
        "font-size": size,
        fill,
        "text-anchor": anchor === "middle" ? "middle" : anchor,
        "font-weight": weight === 400 ? null : weight,
        opacity: alpha === 1 ? null : alpha,
      },
      words,
    );
  }

  line(points, { stroke, line = 1, alpha = 1, dash = null, curve = false }) {
    const [first, ...rest] = points.map(([x, y]) => `${round(x)} ${round(y)}`);
    const d = curve ? `M${first}Q${rest.join(" ")}` : `M${first}L${rest.join("L")}`;
    this.add("path", {
      d,
      fill: "none",
      stroke,
      "stroke-width": line,
      "stroke-linecap": "round",
      opacity: alpha === 1 ? null : alpha,
      "stroke-dasharray": dash?.join(" "),
    });
  }

  curves(paths, look) {
    for (const path of paths) this.line(path, { ...look, curve: true });
  }

  dots(points, { fill, radius }) {
    for (const [x, y] of points) this.circle(x, y, radius, { fill });
  }

  polygon(points, { fill, alpha = 1 }) {
    this.add("polygon", {
      points: points.map(([x, y]) => `${round(x)},${round(y)}`).join(" "),
      fill,
      opacity: alpha === 1 ? null : alpha,
    });
  }

  circle(x, y, radius, { fill = "none", stroke, line = 1, alpha = 1 }) {
    this.add("circle", {
      cx: x,
      cy: y,
      r: radius,
      fill: fill ?? "none",
      stroke,
      "stroke-width": stroke ? line : null,
      opacity: alpha === 1 ? null : alpha,
    });
  }

  document(width, height, title) {
    const paper = themeColours().paper;
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" width="${round(width)}" height="${round(height)}" font-family="${safe(family)}" role="img"><title>${safe(title)}</title><rect width="100%" height="100%" fill="${paper}"/>${this.parts.join("")}</svg>`;
  }
}

// An arrow along a curve, with its head at the end.
export function drawArrow(pen, [from, control, to], look) {
  const size = look.head ?? 7;
  const angle = Math.atan2(to[1] - control[1], to[0] - control[0]);
  const back = [to[0] - size * 0.8 * Math.cos(angle), to[1] - size * 0.8 * Math.sin(angle)];
  pen.line([from, control, back], { ...look, curve: true });
  const side = (turn) => [to[0] - size * Math.cos(angle + turn), to[1] - size * Math.sin(angle + turn)];
  pen.polygon([to, side(0.42), side(-0.42)], { fill: look.stroke, alpha: look.alpha ?? 1 });
}

export function alongCurve([from, control, to], part) {
  const rest = 1 - part;
  return [0, 1].map((i) => rest * rest * from[i] + 2 * rest * part * control[i] + part * part * to[i]);
}

// A canvas that is as sharp as the screen. Returns its pen, scaled so that `width` units fill it.
export function sharpPen(canvas, cssWidth, cssHeight, width) {
  const ratio = Math.min(3, window.devicePixelRatio || 1);
  const [w, h] = [Math.round(cssWidth * ratio), Math.round(cssHeight * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const context = canvas.getContext("2d");
  const scale = w / width;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, (h / w) * width);
  return new CanvasPen(context);
}
