import { element, elementOf } from './elements.js';
import { EventLog } from './event-log.js';
import { standAfter } from './fold.js';
import { formatBytes, formatCalls, formatCount, formatMs, formatTime } from './format.js';
import { listsIn } from './result-lists.js';
import { tablesOf } from './result-tables.js';

/**
 * @typedef {import('./types.d.ts').Answer} Answer
 * @typedef {import('./types.d.ts').GraphQLResult} GraphQLResult
 * @typedef {import('./types.d.ts').StreamEvent} StreamEvent
 */

// Below this the details would leave no room for the panes.
const ROOMY = '(min-width: 43.75em) and (min-height: 37.5em)';

/** The line below GraphiQL: what the last answer was like, with its gateway calls or its events on demand. */
export class AnswerBar {
  #summary = elementOf('answer-summary', HTMLElement);
  #events = viewOf('answer');
  #tables = viewOf('tables');
  #fold = viewOf('fold');
  #views = [this.#tables, this.#fold, this.#events];
  #announcement = elementOf('announcement', HTMLElement);
  /** The user has closed the view, so no subscription opens one again. */
  #isClosedByUser = false;
  /** Draws what the tables and the fold show, which may be large: not before somebody looks. */
  #fill = () => {};
  #applyChanges;

  /** @param {import('./types.d.ts').ApplyChanges} applyChanges */
  constructor(applyChanges) {
    this.#applyChanges = applyChanges;
    for (const view of this.#views) {
      view.toggle.addEventListener('click', () => {
        this.#isClosedByUser = !view.panel.hidden;
        this.#open(view.panel.hidden ? view : null);
      });
    }
  }

  /** @param {Answer} answer */
  show(answer) {
    const { result, ms, bytes, name } = answer;
    const facts = [formatMs(ms), formatBytes(bytes)];
    if (result.extensions?.gateway) facts.push(formatCalls(result.extensions.gateway));
    const { text, tone } = statusOf(answer);
    this.#write(name, text, tone, facts);
    this.#events.panel.replaceChildren(...answerDetails(answer));
    this.#events.toggle.textContent = 'Details';
    this.#offer(listsIn(result.data), null);
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
    let hasErrors = false;
    /** @type {number | null} */
    let lostMs = null;
    let missed = '';
    /** @type {import('./fold.js').Stand | null} */
    let stand = null;
    const update = (/** @type {string} */ text, /** @type {string} */ tone) => {
      const seconds = formatMs(performance.now() - startedMs);
      const facts = [formatCount(log.count, 'event'), formatBytes(bytes), seconds];
      if (missed) facts.push(missed);
      if (stand?.asOf) facts.push(`as of ${formatTime(new Date(String(stand.asOf)))}`);
      this.#write(name, text, tone, facts);
    };
    this.#events.panel.replaceChildren(log.element);
    this.#events.toggle.textContent = 'Events';
    const isOpen = this.#views.some(({ panel }) => !panel.hidden);
    if (!isOpen && !this.#isClosedByUser && matchMedia(ROOMY).matches) this.#open(this.#events);
    update('Streaming', 'live');
    this.#announcement.textContent = `${name}: streaming`;
    return {
      add: (/** @type {StreamEvent} */ event) => {
        if (hasEnded) return;
        const [[field, changes] = ['', null]] = Object.entries(event.result.data ?? {});
        if (lostMs !== null) {
          const how = changes?.snapshot === false ? 'resumed by the cursor' : 'begun anew';
          missed = `missed ${formatMs(performance.now() - lostMs)}, ${how}`;
          this.#announcement.textContent = `${name}: ${missed}`;
          lostMs = null;
        }
        bytes += event.bytes;
        // Errors beside data are those of fields.
        hasErrors = Boolean(event.result.errors) && !changes;
        log.add(event);
        if (changes)
          stand = standAfter(stand, changes, field.replace(/s?Changes$/, 's'), this.#applyChanges);
        const figures = Object.entries(stand ?? {}).filter(([, value]) => !Array.isArray(value));
        const account = { path: 'account', rows: [Object.fromEntries(figures)] };
        if (stand) this.#offer([account, ...listsIn(stand)], stand);
        else this.#offer(listsIn(event.result.data), null);
        update('Streaming', 'live');
      },
      lose: () => {
        if (hasEnded || lostMs !== null) return;
        lostMs = performance.now();
        const why = navigator.onLine ? 'The server is away' : "You're offline";
        update(why, 'bad');
        this.#announcement.textContent = `${name}: ${why}. It goes on when the server is back.`;
      },
      end: (/** @type {'Complete' | 'Stopped'} */ text) => {
        if (hasEnded) return;
        hasEnded = true;
        // A later answer may have taken the line meanwhile.
        if (!log.element.isConnected) return;
        const how = hasErrors && text === 'Complete' ? 'Ended by an error' : text;
        update(how, how === text ? 'good' : 'bad');
        this.#announcement.textContent = `${name}: ${how}, ${formatCount(log.count, 'event')}`;
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
    this.#events.toggle.disabled = false;
    this.#summary.replaceChildren(
      element('span', `state ${tone}`, status),
      element('b', '', name),
      ...facts.map((fact) => element('span', '', fact)),
    );
  }

  /** @param {ReturnType<typeof viewOf> | null} chosen */
  #open(chosen) {
    for (const view of this.#views) {
      view.panel.hidden = view !== chosen;
      view.toggle.setAttribute('aria-expanded', String(view === chosen));
    }
    this.#fill();
  }

  /**
   * A view that was open stays open, with what has come now.
   *
   * @param {readonly import('./result-lists.js').List[]} lists
   * @param {import('./fold.js').Stand | null} stand
   */
  #offer(lists, stand) {
    const { panel: tables, toggle } = this.#tables;
    const { panel: fold } = this.#fold;
    toggle.disabled = lists.length === 0;
    this.#fold.toggle.hidden = stand === null;
    this.#fill = () => {
      tables.replaceChildren(...(tables.hidden ? [] : tablesOf(lists)));
      fold.textContent = fold.hidden ? '' : JSON.stringify(stand, null, 2);
    };
    if ((toggle.disabled && !tables.hidden) || (!stand && !fold.hidden)) this.#open(null);
    else this.#fill();
  }
}

/** @param {string} name */
function viewOf(name) {
  const toggle = elementOf(`${name}-toggle`, HTMLButtonElement);
  return { toggle, panel: elementOf(toggle.getAttribute('aria-controls') ?? '', HTMLElement) };
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

/** @param {Answer} answer */
function* answerDetails({ result, requestId }) {
  const { gateway, cost, fields } = result.extensions ?? {};
  for (const { message, extensions } of result.errors ?? []) {
    const code = extensions?.code;
    yield element('p', 'error', ...(code ? [element('b', '', code), ' '] : []), message);
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
