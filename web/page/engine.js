// The library: compiled to WebAssembly, asked here in the page, or in a worker if it takes long.

let library = null;
let worker = null;
let nextId = 1;
const waiting = new Map();
const latest = new Map();

export class LibraryError extends Error {
  constructor({ code, message }) {
    super(message);
    this.code = code;
  }
}

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function instance(load, module) {
  return new Promise((done, fail) => {
    load({
      instantiateWasm(imports, receive) {
        WebAssembly.instantiate(module, imports).then((made) => receive(made, module), fail);
        return {};
      },
    }).then(done, fail);
  });
}

// Runs in the worker; its text is part of the worker's source, so it refers to nothing outside.
function workerMain() {
  let ready = null;
  onmessage = async ({ data }) => {
    if (data.module) {
      ready = new Promise((done) => {
        load_tutti({
          instantiateWasm(imports, receive) {
            WebAssembly.instantiate(data.module, imports).then((made) => receive(made, data.module));
            return {};
          },
        }).then(done);
      });
      return;
    }
    const tutti = await ready;
    const begun = performance.now();
    const answer = tutti.ccall("tutti_answer", "string", ["string", "string"], [data.question, data.text]);
    postMessage({ id: data.id, answer, took: performance.now() - begun });
  };
}

export async function startEngine() {
  const module = await WebAssembly.compile(await unpacked(document.getElementById("wasm").textContent));
  library = await instance(load_tutti, module);
  startWorker(module);
}

// Without a worker, which some browsers deny to a page from disk, the page itself answers.
function startWorker(module) {
  const source = `${document.getElementById("loader").textContent}\n(${workerMain})();`;
  try {
    worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  } catch {
    return;
  }
  worker.onmessage = ({ data }) => finish(data.id, data.answer);
  worker.onerror = () => {
    worker = null;
    for (const [id, each] of waiting) if (each.begun) answerHere(id, each.begun);
  };
  worker.postMessage({ module });
}

function finish(id, answer) {
  const { done } = waiting.get(id);
  waiting.delete(id);
  done(answer);
}

function answerHere(id, { question, text }) {
  setTimeout(() => finish(id, rawAnswer(question, text)));
}

function rawAnswer(question, text) {
  return library.ccall("tutti_answer", "string", ["string", "string"], [question, text]);
}

function parsed(text) {
  const answer = JSON.parse(text);
  if (answer.error) throw new LibraryError(answer.error);
  return answer;
}

// Answers remembered by question; the reader goes back and forth.
const remembered = new Map();
const most = 60;

function remember(key, answer) {
  remembered.set(key, answer);
  if (remembered.size > most) remembered.delete(remembered.keys().next().value);
  return answer;
}

// The answer at once.
export function ask(question, argumentsGiven = {}) {
  const text = JSON.stringify(argumentsGiven);
  const key = question + text;
  if (remembered.has(key)) return remembered.get(key);
  return remember(key, parsed(rawAnswer(question, text)));
}

// A promise of the answer, computed in the worker. Of several questions in the same `lane` only the newest
// is answered; the others give null.
export async function askLater(question, argumentsGiven, lane = question) {
  const text = JSON.stringify(argumentsGiven);
  const key = question + text;
  const id = nextId++;
  latest.set(lane, id);
  if (remembered.has(key)) return remembered.get(key);
  const answer = await new Promise((done) => {
    waiting.set(id, { done });
    unasked.push({ id, lane, question, text });
    pump();
  });
  if (answer === null) return null;
  const result = remember(key, parsed(answer));
  return latest.get(lane) === id ? result : null;
}

// One question is with the worker at a time, so that overtaken ones can be dropped.
const unasked = [];
let busy = false;

function pump() {
  if (busy) return;
  for (;;) {
    const next = unasked.shift();
    if (!next) return;
    const { done } = waiting.get(next.id);
    if (latest.get(next.lane) !== next.id) {
      waiting.delete(next.id);
      done(null);
      continue;
    }
    busy = true;
    waiting.set(next.id, {
      begun: next,
      done(answer) {
        busy = false;
        done(answer);
        pump();
      },
    });
    if (worker) worker.postMessage({ id: next.id, question: next.question, text: next.text });
    else answerHere(next.id, next);
    return;
  }
}
