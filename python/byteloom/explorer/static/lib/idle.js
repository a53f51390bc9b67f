/* Work that can wait until the reader pauses, so that a key is answered at once.
 *
 *   whenIdle(work)   calls `work` when no key was pressed for a moment; one piece of work at a time
 */

const QUIET = 120; // milliseconds
const queue = [];
let last = -QUIET;
let timer = null;

document.addEventListener("input", () => { last = performance.now(); }, { capture: true, passive: true });

function arm() {
  timer ??= setTimeout(run, Math.max(0, last + QUIET - performance.now()));
}

function run() {
  timer = null;
  if (performance.now() >= last + QUIET) queue.shift()?.();
  if (queue.length > 0) arm();
}

export function whenIdle(work) {
  queue.push(work);
  arm();
}
