import { element, elementOf } from './elements.js';
import { formatBytes, formatCalls, formatCount, formatMs } from './format.js';

/** @typedef {import('./types.d.ts').GraphQLResult} GraphQLResult */

/** The line below GraphiQL: status, time, size and gateway calls of the last answer. */
export class AnswerLine {
  #summary = elementOf('answer-summary', HTMLElement);
  #announcement = elementOf('announcement', HTMLElement);
  /** The last operation. Answers to earlier ones do not change the line. */
  #last = {};

  /** @param {string} name */
  begin(name) {
    const own = {};
    this.#last = own;
    const startedMs = performance.now();
    let events = 0;
    const show = (
      /** @type {string} */ status,
      /** @type {string} */ tone,
      /** @type {readonly string[]} */ facts = [],
    ) => {
      if (this.#last !== own) return;
      const all = [...facts, formatMs(performance.now() - startedMs)];
      this.#summary.replaceChildren(
        element('span', `state ${tone}`, status),
        element('b', '', name),
        ...all.map((fact) => element('span', '', fact)),
      );
      this.#announcement.textContent = tone === 'live' && events > 1 ? '' : `${name}: ${status}`;
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
        const hasData = parts.some(({ data }) => Boolean(data));
        const tone = errors === 0 ? 'good' : hasData ? 'mixed' : 'bad';
        const shown = errors === 0 ? code : `${code}, ${formatCount(errors, 'error')}`;
        const facts = hasReceipt ? [bytes, formatCalls(calls)] : [bytes];
        show(shown, tone, facts);
      },
      count: (/** @type {GraphQLResult} */ { errors }) => {
        events += 1;
        show(errors ? 'Errors' : 'Streaming', errors ? 'bad' : 'live', [
          formatCount(events, 'event'),
        ]);
      },
      complete: () => show('Complete', 'good', [formatCount(events, 'event')]),
      fail: () => show('Failed', 'bad'),
    };
  }
}

/**
 * The results in an answer: one, or the parts of a deferred one.
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
