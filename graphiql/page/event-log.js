import { element } from './elements.js';
import { formatBytes, formatMs, formatTime } from './format.js';

// A subscription may run for hours.
const MAX_EVENTS = 200;

/** The events of one subscription, newest first; each opens to its whole JSON. */
export class EventLog {
  element = element('ol', 'events');
  count = 0;
  /** @type {number | null} */
  #lastMs = null;

  /** @param {import('./types.d.ts').StreamEvent} event */
  add({ at, bytes, result }) {
    this.count += 1;
    const ms = at.getTime();
    const gap = this.#lastMs === null ? 'first' : `+${formatMs(ms - this.#lastMs)}`;
    this.#lastMs = ms;
    // The name of the one field is the same in each line.
    const [value] = Object.values(Object(result.data));
    const text = JSON.stringify(result.errors ?? value);
    const summary = element(
      'summary',
      '',
      element('span', 'number', `#${this.count}`),
      element('time', '', formatTime(at)),
      element('span', 'number', gap),
      element('span', 'number', formatBytes(bytes)),
      // The line shows what fits; the whole text of a large event would only be laid out and cut.
      element('code', result.errors ? 'bad' : '', text.slice(0, 300)),
    );
    const details = element('details', '', summary);
    details.addEventListener(
      'toggle',
      () => details.append(element('pre', '', JSON.stringify(result, null, 2))),
      { once: true },
    );
    this.element.prepend(element('li', '', details));
    while (this.element.childElementCount > MAX_EVENTS) this.element.lastElementChild?.remove();
  }
}
