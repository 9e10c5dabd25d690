import { element, elementOf } from './elements.js';
import { formatBytes, formatCalls, formatCount, formatMs } from './format.js';

/** @typedef {import('./types.d.ts').GraphQLResult} GraphQLResult */

/** The line below GraphiQL: status, time, size and gateway calls of the last answer. */
export class AnswerLine {
  #summary = elementOf('answer-summary', HTMLElement);
  #announcement = elementOf('announcement', HTMLElement);
  /** The last operation. Answers to earlier operations do not change the line. */
  #last = {};

  /** Removes an earlier answer when the next operation cannot be sent. */
  notSent() {
    this.#last = {};
    this.#summary.replaceChildren(element('span', 'state bad', 'Not sent'));
    this.#announcement.textContent = 'Not sent';
  }

  /** @param {string} name */
  begin(name) {
    const operation = {};
    this.#last = operation;
    const startedMs = performance.now();
    let events = 0;
    const show = (
      /** @type {string} */ status,
      /** @type {string} */ tone,
      /** @type {readonly string[]} */ facts = [],
    ) => {
      if (this.#last !== operation) return;
      const all = [...facts, formatMs(performance.now() - startedMs)];
      this.#summary.replaceChildren(
        element('span', `state ${tone}`, status),
        element('b', '', name),
        ...all.map((fact) => element('span', '', fact)),
      );
      // Only the first event of a subscription is announced to screen readers.
      const isRepeated = tone === 'live' && events > 1;
      this.#announcement.textContent = isRepeated ? '' : `${name}: ${status}`;
    };
    return {
      end: (/** @type {Response} */ { status, statusText }, /** @type {string} */ text) => {
        const parts = partsOf(text);
        const errors = parts.flatMap((part) => part.errors ?? []).length;
        const calls = parts.flatMap(({ extensions }) => extensions?.gateway ?? []);
        const hasReceipt = parts.some(({ extensions }) => extensions?.gateway);
        // HTTP/2 has no reason phrases.
        const code = statusText ? `${status} ${statusText}` : String(status);
        const bytes = formatBytes(new TextEncoder().encode(text).length);
        const facts = hasReceipt ? [bytes, formatCalls(calls)] : [bytes];
        if (errors === 0) {
          show(code, 'good', facts);
          return;
        }
        const hasData = parts.some(({ data }) => Boolean(data));
        const tone = hasData ? 'mixed' : 'bad';
        show(`${code}, ${formatCount(errors, 'error')}`, tone, facts);
      },
      count: (/** @type {GraphQLResult} */ { errors }) => {
        events += 1;
        const facts = [formatCount(events, 'event')];
        if (errors) show('Errors', 'bad', facts);
        else show('Streaming', 'live', facts);
      },
      complete: () => show('Complete', 'good', [formatCount(events, 'event')]),
      stop: () => show('Stopped', 'good', [formatCount(events, 'event')]),
      fail: () => show('Failed', 'bad'),
    };
  }
}

/**
 * The results in an answer: one result, or the parts of a deferred result.
 *
 * @param {string} text
 * @returns {GraphQLResult[]}
 */
function partsOf(text) {
  return text.split(/\r?\n/).flatMap((line) => {
    if (!line.startsWith('{')) return [];
    try {
      const { incremental = [], ...part } = JSON.parse(line);
      return [part, ...incremental];
    } catch {
      return [];
    }
  });
}
