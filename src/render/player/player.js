// Plays a schedule round by round. The picture and its data are part of the page; the script only
// controls what is visible.
"use strict";

const story = JSON.parse(document.getElementById("story").textContent);
const byId = (id) => document.getElementById(id);
const last = story.frames.length - 1;

// What every box holds after `round` rounds: the sum of all changes up to it.
function holdings(round) {
  const boxes = story.boxes.map(() => ({ ranks: 0, fresh: 0, complete: false, words: "" }));
  for (let k = 0; k <= round; ++k) {
    for (const box of boxes) box.fresh = 0;
    for (const [index, ranks, complete, words] of story.frames[k]) {
      const box = boxes[index];
      box.fresh = k > 0 ? ranks & ~box.ranks : 0;
      box.ranks = ranks;
      box.complete = complete === 1;
      box.words = words;
    }
  }
  return boxes;
}

function element(name, attributes, parent) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}

function rectangle(x, y, width) {
  return `M${x} ${y}h${width}v${story.height}h${-width}z`;
}

function drawContributions(boxes) {
  const fills = byId("fills");
  fills.replaceChildren();
  const width = story.striped ? story.width / story.ranks : story.width;
  for (let rank = 0; rank < story.ranks; ++rank) {
    let old = "";
    let fresh = "";
    boxes.forEach((box, index) => {
      if ((box.ranks >> rank & 1) === 0) return;
      const [x, y] = story.boxes[index];
      const path = rectangle(story.striped ? x + rank * width : x, y, width);
      if ((box.fresh >> rank & 1) === 1) fresh += path;
      else old += path;
    });
    const colour = story.colours[rank];
    if (old) element("path", { d: old, class: `${colour} pale` }, fills);
    if (fresh) element("path", { d: fresh, class: story.words ? `${colour} pale` : colour }, fills);
  }
}

function drawOutlines(boxes) {
  const outlines = byId("outlines");
  outlines.replaceChildren();
  const around = (wanted) => boxes.map((box, index) =>
    wanted(box) ? rectangle(...story.boxes[index], story.width) : "").join("");
  element("path", { d: around((box) => box.fresh !== 0 && !box.complete), class: "ink-line outline" }, outlines);
  element("path", { d: around((box) => box.complete), class: "done-line outline thick" }, outlines);
}

function drawWords(boxes) {
  const words = byId("words");
  words.replaceChildren();
  boxes.forEach((box, index) => {
    if (!box.words) return;
    const [x, y] = story.boxes[index];
    const text = element("text", {
      x: x + story.width / 2, y: y + story.height / 2 + 4,
      "font-size": 11, "text-anchor": "middle", class: "ink",
    }, words);
    text.textContent = box.words;
  });
}

function drawHoldings(round) {
  const boxes = holdings(round);
  drawContributions(boxes);
  drawOutlines(boxes);
  drawWords(boxes);
}

// The arrows of a round and their descriptions. Hovering over one highlights the other.
function drawMessages(round) {
  const arrows = byId("arrows");
  const list = byId("messages");
  arrows.replaceChildren();
  list.replaceChildren();
  for (const message of round > 0 ? story.messages[round - 1] : []) {
    const colour = message.adds ? "adds" : "copies";
    const group = element("g", { class: "message" }, arrows);
    element("title", {}, group).textContent = message.words;
    for (const [line, head] of message.arrows) {
      element("path", { d: line, class: "hit" }, group);
      element("path", { d: line, class: `${colour}-line line arrow` }, group);
      element("path", { d: head, class: colour }, group);
    }
    const item = document.createElement("li");
    item.textContent = message.words;
    list.append(item);
    for (const one of [group, item]) {
      one.addEventListener("pointerenter", () => [group, item].forEach((each) => each.classList.add("marked")));
      one.addEventListener("pointerleave", () => [group, item].forEach((each) => each.classList.remove("marked")));
    }
  }
  if (!list.hasChildNodes()) list.append(Object.assign(document.createElement("li"), { textContent: "none yet" }));
}

let shown = 0;
let playing = false;
let flight = 0;
let pause = 0;

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const pace = () => 900 / Number(byId("speed").value);

function halt() {
  cancelAnimationFrame(flight);
  clearTimeout(pause);
  byId("chips").replaceChildren();
}

function show(round) {
  halt();
  shown = Math.max(0, Math.min(last, round));
  drawMessages(shown);
  drawHoldings(shown);
  settle();
}

function settle() {
  byId("heading").textContent = story.headings[shown];
  byId("round").value = shown;
  byId("round").setAttribute("aria-valuetext", story.headings[shown]);
  byId("first").disabled = byId("back").disabled = shown === 0;
  byId("step").disabled = byId("last").disabled = shown === last;
  byId("play").textContent = playing ? "Pause" : "Play";
  document.body.dataset.round = shown;
}

// Moves a chip along every arrow of the next round, then shows the result.
function advance(then) {
  halt();
  if (calm.matches) {
    show(shown + 1);
    then();
    return;
  }
  ++shown;
  drawMessages(shown);
  drawHoldings(shown - 1);
  settle();
  const chips = [...document.querySelectorAll("#arrows .hit")].map((line) => ({
    line,
    length: line.getTotalLength(),
    dot: element("circle", { r: 4.5, class: line.nextSibling.classList.contains("adds-line") ? "adds" : "copies" }, byId("chips")),
  }));
  const duration = pace();
  let begin;
  const fly = (now) => {
    begin ??= now;
    const part = Math.min(1, (now - begin) / duration);
    const eased = part * part * (3 - 2 * part);
    for (const { line, length, dot } of chips) {
      const at = line.getPointAtLength(length * eased);
      dot.setAttribute("cx", at.x);
      dot.setAttribute("cy", at.y);
    }
    if (part < 1) {
      flight = requestAnimationFrame(fly);
    } else {
      show(shown);
      then();
    }
  };
  flight = requestAnimationFrame(fly);
}

function stop() {
  playing = false;
  show(shown);
}

function goOn() {
  if (!playing) return;
  if (shown === last) stop();
  else pause = setTimeout(() => advance(goOn), pace() * 0.6);
}

function togglePlay() {
  if (playing) {
    stop();
    return;
  }
  if (shown === last) show(0);
  playing = true;
  settle();
  advance(goOn);
}

function go(round) {
  playing = false;
  show(round);
}

function step() {
  playing = false;
  if (shown < last) advance(() => {});
}

byId("first").addEventListener("click", () => go(0));
byId("back").addEventListener("click", () => go(shown - 1));
byId("play").addEventListener("click", togglePlay);
byId("step").addEventListener("click", step);
byId("last").addEventListener("click", () => go(last));
byId("round").addEventListener("input", (event) => go(Number(event.target.value)));

const keys = { ArrowLeft: () => go(shown - 1), ArrowRight: step, Home: () => go(0), End: () => go(last), " ": togglePlay };
document.addEventListener("keydown", (event) => {
  // The focused element handles these keys itself: a slider the arrows, a button the space bar.
  if (event.target.closest("select, input") || (event.key === " " && event.target.closest("button"))) return;
  if (event.ctrlKey || event.altKey || event.metaKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

byId("round").max = last;
show(0);
