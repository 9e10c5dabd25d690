import { element, elementOf } from './elements.js';
import { EventLog } from './event-log.js';
import { formatBytes, formatCalls, formatCount, formatMs } from './format.js';
import { listsIn } from './result-lists.js';
import { tablesOf } from './result-tables.js';

/**
 * @typedef {import('./types.d.ts').Answer} Answer
 * @typedef {import('./types.d.ts').GraphQLResult} GraphQLResult
 * @typedef {import('./types.d.ts').StreamEvent} StreamEvent
 */

// Below this the details would leave no room for the panes.
const ROOMY = '(min-width: 700px) and (min-height: 600px)';

/** The line below GraphiQL: what the last answer was like, with its gateway calls or its events on demand. */
export class AnswerBar {
  #summary = elementOf('answer-summary', HTMLElement);
  #details = elementOf('answer-details', HTMLElement);
  #toggle = elementOf('answer-toggle', HTMLButtonElement);
  #tables = elementOf('answer-tables', HTMLElement);
  #tablesToggle = elementOf('tables-toggle', HTMLButtonElement);
  #announcement = elementOf('announcement', HTMLElement);
  /** The user has closed the details, so no subscription opens them again. */
  #isClosedByUser = false;
  /** Draws the tables of the last answer, which may be large: not before somebody looks. */
  #fill = () => {};

  constructor() {
    this.#toggle.addEventListener('click', () => {
      const isOpen = this.#toggle.getAttribute('aria-expanded') === 'true';
      this.#isClosedByUser = isOpen;
      this.#open(!isOpen);
    });
    this.#tablesToggle.addEventListener('click', () =>
      this.#openTables(Boolean(this.#tables.hidden)),
    );
  }

  /** @param {Answer} answer */
  show(answer) {
    const { result, ms, bytes, name } = answer;
    const facts = [formatMs(ms), formatBytes(bytes)];
    if (result.extensions?.gateway) facts.push(formatCalls(result.extensions.gateway));
    const { text, tone } = statusOf(answer);
    this.#write(name, text, tone, facts);
    this.#details.replaceChildren(...answerDetails(answer));
    this.#name('Details');
    this.#offerTables(result.data);
    this.#announcement.textContent = `${name}: ${text}, ${facts.join(', ')}`;
  }

  /**
   * Begins the log of a subscription.
   *
   * @param {string} name
   */
  openStream(name) {
    const log = new EventLog();
    const startedMs = performance.now();
    let bytes = 0;
    let hasEnded = false;
    const update = (/** @type {string} */ text, /** @type {string} */ tone) => {
      const seconds = formatMs(performance.now() - startedMs);
      this.#write(name, text, tone, [formatCount(log.count, 'event'), formatBytes(bytes), seconds]);
    };
    this.#details.replaceChildren(log.element);
    this.#name('Events');
    this.#offerTables(null);
    if (!this.#isClosedByUser && matchMedia(ROOMY).matches) this.#open(true);
    update('Streaming', 'live');
    this.#announcement.textContent = `${name}: streaming`;
    return {
      add: (/** @type {StreamEvent} */ event) => {
        if (hasEnded) return;
        bytes += event.bytes;
        log.add(event);
        update('Streaming', 'live');
      },
      end: (/** @type {'complete' | 'stopped' | 'cut'} */ how) => {
        if (hasEnded) return;
        hasEnded = true;
        const text = { complete: 'Complete', stopped: 'Stopped', cut: 'Connection lost' }[how];
        // A later answer may have taken the line meanwhile.
        if (!log.element.isConnected) return;
        update(text, how === 'cut' ? 'bad' : 'good');
        this.#announcement.textContent = `${name}: ${text}, ${formatCount(log.count, 'event')}`;
      },
    };
  }

  /**
   * @param {string} name
   * @param {string} status
   * @param {string} tone
   * @param {readonly string[]} facts
   */
  #write(name, status, tone, facts) {
    this.#summary.replaceChildren(
      element('span', `state ${tone}`, status),
      element('b', '', name),
      ...facts.map((fact) => element('span', '', fact)),
    );
  }

  /** @param {string} label */
  #name(label) {
    this.#toggle.disabled = false;
    this.#toggle.textContent = label;
  }

  /** @param {boolean} isOpen */
  #open(isOpen) {
    this.#details.hidden = !isOpen;
    this.#toggle.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) this.#openTables(false);
  }

  /**
   * A view that was open stays open, with the lists of the new answer.
   *
   * @param {unknown} data
   */
  #offerTables(data) {
    const lists = listsIn(data);
    this.#tablesToggle.disabled = lists.length === 0;
    this.#tables.replaceChildren();
    this.#fill = () => this.#tables.replaceChildren(...tablesOf(lists));
    this.#openTables(lists.length > 0 && !this.#tables.hidden);
  }

  /** @param {boolean} isOpen */
  #openTables(isOpen) {
    this.#tables.hidden = !isOpen;
    this.#tablesToggle.setAttribute('aria-expanded', String(isOpen));
    if (!isOpen) return;
    this.#open(false);
    this.#fill();
  }
}

/** @param {Answer} answer */
function statusOf({ status, statusText, result }) {
  if (status === null) return { text: 'Failed', tone: 'bad' };
  // HTTP/2 has no reason phrases.
  const code = statusText ? `${status} ${statusText}` : String(status);
  const errors = result.errors?.length ?? 0;
  if (errors === 0) return { text: code, tone: 'good' };
  const text = `${code}, ${formatCount(errors, 'error')}`;
  return { text, tone: result.data == null ? 'bad' : 'mixed' };
}

/**
 * A code, which leads to what the documentation says of it where that is served.
 *
 * @param {string} code
 */
function named(code) {
  const bold = element('b', '', code);
  if (!document.querySelector('#docs a[href="/docs/errors"]')) return bold;
  const link = element('a', '', bold);
  link.href = `/docs/errors#${encodeURIComponent(code)}`;
  link.target = '_blank';
  return link;
}

/** @param {Answer} answer */
function* answerDetails({ result, requestId }) {
  const { gateway, cost, fields } = result.extensions ?? {};
  for (const { message, extensions } of result.errors ?? []) {
    const code = extensions?.code;
    yield element('p', 'error', ...(code ? [named(code), ' '] : []), message);
  }
  if (gateway && gateway.length > 0) {
    const rows = gateway.map(({ operation, source, ms, outcome }) =>
      element(
        'tr',
        '',
        element('td', '', operation),
        element('td', '', SOURCES[source] + (outcome === undefined ? '' : `, failed (${outcome})`)),
        element('td', 'number', source === 'cache' ? '–' : formatMs(ms)),
      ),
    );
    const head = element('tr', '', ...['Gateway operation', 'Answered by', 'Time'].map(heading));
    yield element('table', '', element('thead', '', head), element('tbody', '', ...rows));
  } else if (gateway) yield element('p', '', 'No gateway call was needed.');
  const facts = [
    requestId && `request id ${requestId}`,
    cost !== undefined && `cost ${cost}`,
    fields !== undefined && formatCount(fields, 'field'),
  ];
  yield element('p', 'quiet', facts.filter(Boolean).join(' · '));
}

/** @param {string} text */
function heading(text) {
  const cell = element('th', '', text);
  cell.scope = 'col';
  return cell;
}

const SOURCES = { call: 'a call', cache: 'the cache', shared: 'a call shared with others' };
