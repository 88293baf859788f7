import { askLater, LibraryError } from "./engine.js";
import { choice, h, hideTip, put, s, showTip } from "./dom.js";
import { heatColour, rankColour, themeColours } from "./colours.js";
import { shortName } from "./controls.js";
import { algorithmName, catalogue, findAlgorithm, mostPlayed, model, problem, state, update } from "./state.js";
import { exportSvg, fileName } from "./export.js";
import { linkPath, networkText, overlayArcs, specs } from "./networks.js";
import { drawTimeline } from "./timeline.js";
import { bytesText, commas, percentText, plural, rateText, secondsText } from "./units.js";

// The schedule on a network: routes, loads, stretch, and a simulated run.

const parse = (order) => (order ? order.split(",").map(Number) : []);

export function networkView() {
  const bar = h("div", { class: "bar" });
  const figures = h("dl", { class: "bigs", id: "netfigures" });
  const picture = h("div", { class: "panel" });
  const line = h("div", { class: "panel", id: "timeline" });
  const element = h("div", { class: "stack" }, bar, figures, picture, line);
  let net = null;
  let load = null;
  let result = null;
  let places = [];
  let rounds = 0;
  let round = null; // The round whose load is shown; null: all.
  let scale = "bytes";
  let overlay = null; // Whether arcs are shown; null: if they are few.
  let svg = null;
  let token = 0;

  function chosenSpec() {
    const all = specs(state.p, findAlgorithm(algorithmName()).dimensions[1] ? state.shape : "");
    if (state.net === "") return (all.find(([key]) => key === (state.p === 4 ? "lecture" : "torus")) ?? all[0])[1];
    return state.net;
  }

  function drawBar() {
    const all = specs(state.p, findAlgorithm(algorithmName()).dimensions[1] ? state.shape : "");
    const spec = chosenSpec();
    const known = all.some(([, text]) => text === spec);
    put(
      bar,
      choice(
        "Network",
        spec,
        [...all.map(([, text, words]) => [text, words]), ...(known ? [] : [[spec, spec]])],
        (value) => update({ net: value, order: "" }),
        { id: "net" },
      ),
      h(
        "label",
        { class: "field grow" },
        h("span", {}, "or its description"),
        h("input", {
          id: "netspec",
          type: "text",
          spellcheck: "false",
          value: spec === "lecture" ? "lecture" : spec,
          list: "nets",
          onchange: (event) => update({ net: event.target.value.trim(), order: "" }),
        }),
      ),
      h(
        "datalist",
        { id: "nets" },
        catalogue.networks.map((each) => h("option", { value: each.example }, each.summary)),
      ),
      choice(
        "Rank order",
        "",
        [
          ["", state.order ? "own" : "0, 1, 2, …"],
          ["given", "0, 1, 2, …"],
          ["best", "best ring"],
          ["random", "random"],
          ["reverse", "halves interleaved"],
        ],
        (value) => reorder(value),
        { id: "order" },
      ),
      exportSvg(
        () => svg,
        () => `${fileName()}-network`,
        () => ({ network: net, load, simulation: result }),
      ),
    );
  }

  function whereabouts() {
    return {
      ...problem(),
      network: networkText(chosenSpec()),
      size: state.n,
      places: parse(state.order),
      ...(round === null ? {} : { round }),
    };
  }

  async function reload() {
    const found = await askLater("load", whereabouts(), "load");
    if (!found) return;
    load = found;
    drawPicture();
  }

  async function reorder(how) {
    const all = net.ranks.map((_, i) => i);
    if (how === "given") update({ order: "" });
    if (how === "random") {
      for (let i = all.length - 1; i > 0; --i) {
        const j = Math.floor(Math.random() * (i + 1));
        [all[i], all[j]] = [all[j], all[i]];
      }
      update({ order: all.join(",") });
    }
    if (how === "reverse")
      update({ order: all.map((i) => (i % 2 ? Math.ceil(all.length / 2) + (i >> 1) : i >> 1)).join(",") });
    if (how === "best") {
      const found = await askLater("order", { network: networkText(chosenSpec()), size: state.n }, "order");
      if (found) update({ order: found.places.join(",") });
    }
  }

  function drawFigures(price) {
    const big = (words, value, small) =>
      h("div", {}, h("dt", {}, words), h("dd", {}, value, small ? h("small", {}, small) : null));
    const alone = price?.algorithms?.[0]?.one_port?.seconds;
    const busiest = result?.busiest[0];
    put(
      figures,
      big(
        "average stretch",
        load.stretch.average.toFixed(2),
        `links per message; worst ${load.stretch.worst}, rank ${load.stretch.worst_from} → ${load.stretch.worst_to}`,
      ),
      big(
        "simulated time",
        result ? secondsText(result.seconds) : "…",
        alone ? `priced without a network: ${secondsText(alone)}` : null,
      ),
      big(
        state.ports === "one" ? "of the bound for one port" : "of the network's bound",
        result ? percentText(result.part_of_bound) : "…",
        !net.optimum
          ? "no bound for this one"
          : state.ports === "one"
            ? "what no schedule exceeds if ranks have one port"
            : `cut of ${plural(net.optimum.cut.ranks, "rank")} with ${rateText(net.optimum.cut.leaving)} out`,
      ),
      big(
        "busiest link",
        busiest ? percentText(busiest.utilisation) : "…",
        busiest ? `${busiest.name}, ${bytesText(busiest.bytes)}` : null,
      ),
      big(
        "links in use",
        `${load.links.filter((each) => each[0] > 0).length} of ${net.links.length}`,
        "each direction counts",
      ),
    );
  }

  // The picture ---------------------------------------------------------------------------------

  function drawPicture() {
    const xs = net.nodes.map((each) => each[3]);
    const ys = net.nodes.map((each) => each[4]);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const many = net.nodes.length > 40;
    const unit = Math.min(96, 900 / Math.max(1, right - left), 560 / Math.max(1, bottom - top));
    const margin = 54;
    const [width, height] = [(right - left) * unit + 2 * margin, (bottom - top) * unit + 2 * margin];
    const wide = Math.max(width, 640);
    const shift = (wide - width) / 2;
    const at = (node) => [
      (net.nodes[node][3] - left) * unit + margin + shift,
      (net.nodes[node][4] - top) * unit + margin,
    ];
    const radius = Math.max(7, Math.min(17, unit * 0.28));
    svg = s("svg", {
      class: "net",
      viewBox: `0 0 ${wide.toFixed(0)} ${height.toFixed(0)}`,
      role: "group",
      "aria-label": words(),
      style: `max-height:${Math.max(420, innerHeight - 330)}px`,
    });
    const amount = (i) =>
      scale === "bytes"
        ? load.links[i][1]
        : scale === "messages"
          ? load.links[i][0]
          : load.links[i][1] / net.links[i][2];
    const most = Math.max(1e-30, ...net.links.map((_, i) => amount(i)));
    const paths = net.links.map((link) => linkPath(at(link[0]), at(link[1]), [link[4] * unit, link[5] * unit], radius));
    const theme = themeColours();
    net.links.forEach((link, i) => {
      const part = amount(i) / most;
      const idle = load.links[i][0] === 0;
      const path = s("path", {
        class: "link",
        d: paths[i],
        stroke: idle ? theme.rim : heatColour(part),
        "stroke-width": idle ? 1 : (many ? 1.5 : 2.2) + (many ? 2.5 : 4.5) * part,
        "data-link": i,
      });
      const hit = s("path", { class: "link", d: paths[i], stroke: "transparent", "stroke-width": 11 });
      hit.addEventListener("pointermove", (event) => showTip(linkWords(i), event.clientX, event.clientY));
      hit.addEventListener("pointerleave", hideTip);
      svg.append(path, hit);
    });
    const routes = s("g", { id: "routes" });
    const arcs = overlay ?? load.routes.length <= 40;
    if (arcs) svg.append(overlayArcs({ net, load, places }, at, radius));
    svg.append(routes);
    net.nodes.forEach((node, i) => {
      if (node[1] === "rank") return;
      const [x, y] = at(i);
      const half = radius * (node[1] === "nic" ? 0.5 : 0.8);
      svg.append(
        s(
          "g",
          {},
          s(
            "rect",
            { class: "switch", x: x - half, y: y - half, width: 2 * half, height: 2 * half, rx: 3 },
            s("title", {}, `${node[1]} ${node[0]}`),
          ),
          many || radius < 12
            ? null
            : s(
                "text",
                { x: x + half + 4, y: y + 4, style: "fill:var(--soft);font-size:10px;text-anchor:start" },
                node[0],
              ),
        ),
      );
    });
    const rankAt = new Array(net.ranks.length).fill(-1);
    places.forEach((place, rank) => (rankAt[place] = rank));
    net.ranks.forEach((node, place) => svg.append(rankNode(place, rankAt[place], at(node), radius, routes, paths)));
    put(
      picture,
      h(
        "div",
        { class: "bar" },
        h("h2", {}, `${shortName(algorithmName())} on ${net.name.replace(/,bandwidth=[^,]*$/, "")}`),
        choice(
          "Colour of a link",
          scale,
          [
            ["bytes", "bytes"],
            ["messages", "messages"],
            ["time", "time: bytes over bandwidth"],
          ],
          (value) => {
            scale = value;
            drawPicture();
          },
          { id: "scale" },
        ),
        choice(
          "Load of",
          String(round ?? ""),
          [
            ["", "the whole run"],
            ...Array.from({ length: Math.min(rounds, 200) }, (_, i) => [String(i), `round ${i + 1}`]),
          ],
          (value) => {
            round = value === "" ? null : Number(value);
            reload();
          },
          { id: "load-round" },
        ),
        h(
          "label",
          { class: "check" },
          h("input", {
            type: "checkbox",
            id: "overlay-on",
            checked: arcs,
            onchange: (event) => {
              overlay = event.target.checked;
              drawPicture();
            },
          }),
          " arcs of the overlay",
        ),
      ),
      svg,
      h(
        "p",
        { class: "note" },
        "idle",
        h("span", {
          class: "heat",
          style: `background:linear-gradient(90deg,${[0, 0.25, 0.5, 0.75, 1].map((each) => heatColour(each)).join(",")})`,
        }),
        `busiest: ${scale === "bytes" ? bytesText(most) : scale === "messages" ? plural(most, "message") : secondsText(most)}. Drag a rank onto another to swap them, or select it and press the arrow keys. Point at a rank to see the routes of its messages. Routes: ${net.policy.replace("_", " ")}.`,
      ),
    );
  }

  function words() {
    return `${algorithmName()} on ${net.name}: ${net.nodes.length} nodes, ${net.links.length} links. Average stretch ${load.stretch.average.toFixed(2)}. ${result ? `Simulated time ${secondsText(result.seconds)}.` : ""}`;
  }

  function linkWords(i) {
    const link = net.links[i];
    const [messages, bytes] = load.links[i];
    const busy = result ? `, busy ${percentText(result.links[i][1] / result.seconds)} of the time` : "";
    return `${net.nodes[link[0]][0]} → ${net.nodes[link[1]][0]}: ${plural(messages, "message")}, ${bytesText(bytes)} over ${rateText(link[2])}${busy}`;
  }

  function rankNode(place, rank, [x, y], radius, routes, paths) {
    const used = rank >= 0;
    const colour = used ? rankColour(rank, Math.max(3, places.length)) : themeColours().empty;
    const host = net.nodes[net.ranks[place]][0];
    const node = s(
      "g",
      {
        class: "rank",
        tabindex: 0,
        role: "button",
        "data-place": place,
        "aria-label": used ? `rank ${rank} at ${host}; arrow keys swap it with its neighbours` : `${host}, free`,
        transform: `translate(${x} ${y})`,
      },
      s("circle", { class: "ring", r: radius, fill: colour, stroke: themeColours().paper, "stroke-width": 2 }),
      s("text", { y: 4, style: `font-weight:700;font-size:${Math.min(13, radius)}px;fill:#10151d` }, used ? rank : ""),
      /^(rank|r)?\s*\d+$/i.test(host) || radius < 11
        ? null
        : s("text", { y: -radius - 5, style: "fill:var(--soft)" }, host),
    );
    const show = () => {
      put(
        routes,
        ...load.routes
          .filter((each) => each[0] === rank)
          .flatMap((each) => each.slice(2).map((link) => s("path", { class: "route", d: paths[link] }))),
      );
      const peers = load.routes.filter((each) => each[0] === rank);
      return `rank ${rank} at ${host} sends to ${peers
        .map((each) => `${each[1]} (${plural(each.length - 2, "link")})`)
        .slice(0, 8)
        .join(", ")}${peers.length > 8 ? ", …" : ""}`;
    };
    node.addEventListener("pointermove", (event) => used && showTip(show(), event.clientX, event.clientY));
    node.addEventListener("focus", () => used && show());
    node.addEventListener("pointerleave", () => {
      hideTip();
      put(routes);
    });
    node.addEventListener("blur", () => put(routes));
    node.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      const other = (place + by + net.ranks.length) % net.ranks.length;
      swap(place, other);
      setTimeout(() => svg.querySelector(`[data-place="${other}"]`)?.focus(), 160);
    });
    node.addEventListener("pointerdown", (event) => drag(event, node, place));
    return node;
  }

  function drag(event, node, place) {
    event.preventDefault();
    hideTip();
    const start = svg.createSVGPoint();
    const point = (each) => {
      start.x = each.clientX;
      start.y = each.clientY;
      return start.matrixTransform(svg.getScreenCTM().inverse());
    };
    const home = node.getAttribute("transform");
    node.classList.add("dragged");
    svg.append(node);
    const under = (each) => {
      node.style.pointerEvents = "none";
      const found = document.elementFromPoint(each.clientX, each.clientY)?.closest?.(".rank");
      node.style.pointerEvents = "";
      return found && found !== node ? Number(found.dataset.place) : null;
    };
    const move = (each) => {
      const { x, y } = point(each);
      node.setAttribute("transform", `translate(${x} ${y})`);
    };
    const end = (each) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      const other = under(each);
      node.classList.remove("dragged");
      node.setAttribute("transform", home);
      if (other !== null) swap(place, other);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  }

  // Exchanges the ranks of two places.
  function swap(one, other) {
    const order = state.order ? parse(state.order) : net.ranks.map((_, i) => i);
    for (let i = 0; i < net.ranks.length; ++i) if (!order.includes(i)) order.push(i);
    const [a, b] = [order.indexOf(one), order.indexOf(other)];
    [order[a], order[b]] = [order[b], order[a]];
    update({ order: order.every((each, i) => each === i) ? "" : order.join(",") });
  }

  return {
    element,
    async change(changed) {
      const own = ++token;
      if (state.p > mostPlayed)
        throw new LibraryError({
          code: "unsupported",
          message: `Networks are shown for up to ${mostPlayed} ranks. Move the slider of ranks to the left.`,
        });
      if (state.p < 2)
        throw new LibraryError({ code: "unsupported", message: "One rank alone sends nothing: choose more ranks." });
      const relevant = ["view", "c", "a", "p", "root", "shape", "n", "net", "order", "gamma", "alpha", "bw", "ports"];
      if (!relevant.some((key) => changed.has(key))) return;
      // A network for another number of ranks was chosen before.
      if (changed.has("p") && !changed.has("net") && state.net !== "") {
        const kind = state.net.split(":")[0];
        const again = specs(state.p, "").find(([key]) => key === kind);
        if (again) state.net = again[1];
        else state.net = "";
      }
      drawBar();
      const network = networkText(chosenSpec());
      if (["view", "c", "a", "p", "root", "shape"].some((key) => changed.has(key))) round = null;
      const where = whereabouts();
      const [found, loads] = await Promise.all([
        askLater("network", { network }, "network"),
        askLater("load", where, "load"),
      ]);
      if (!found || !loads || own !== token) return;
      net = found;
      load = loads;
      rounds = loads.rounds;
      places = state.order ? parse(state.order).slice(0, state.p) : Array.from({ length: state.p }, (_, i) => i);
      drawPicture();
      const settings = { ...where, gamma: state.gamma, sim_ports: state.ports === "one" ? 1 : 0 };
      const [sim, price] = await Promise.all([
        askLater("simulate", settings, "simulate"),
        askLater("cost", { ...model(), algorithm: algorithmName() }, "price"),
      ]);
      if (!sim || own !== token) return;
      result = sim;
      drawFigures(price);
      svg?.setAttribute("aria-label", words());
      drawTimeline(line, result, net, {
        title: `Simulated run of ${shortName(algorithmName())}: ${secondsText(result.seconds)}, ${commas(result.messages)} messages`,
      });
    },
    repaint() {
      if (net && load) drawPicture();
      if (result)
        drawTimeline(line, result, net, {
          title: `Simulated run of ${shortName(algorithmName())}: ${secondsText(result.seconds)}, ${commas(result.messages)} messages`,
        });
    },
  };
}
