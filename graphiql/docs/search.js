/** Words of the field that mean the same to somebody who searches; a phrase counts where all of its words stand in the query. */
const SYNONYMS = [
  ['websocket', 'socket', 'graphql-ws', 'subscription'],
  ['idempotency', 'double submit', 'duplicate order', 'twice'],
  ['k8s', 'kubernetes', 'helm'],
  ['ten minutes', 'getting started', 'quick start', 'quickstart', 'tutorial', 'first app'],
  ['signed out', 'token end', 'token expired', 'log out', 'logout'],
  ['docker', 'container', 'image'],
  ['env', 'environment variable', 'setting', 'configuration', 'config'],
  ['persisted query', 'trusted document', 'allowlist', 'safelist'],
  ['ticker', 'instrument', 'symbol'],
  ['price', 'quote', 'tick'],
  ['auth', 'authentication', 'token', 'sign in', 'login'],
  ['csrf', 'cross-site'],
  ['csp', 'content security policy'],
  ['pagination', 'paging'],
  ['throttle', 'rate limit', '429', 'too many requests'],
  ['complexity', 'cost', 'query too complex'],
  ['backup', 'restore', 'copy'],
  ['realtime', 'live', 'streaming', 'subscription'],
  ['stale', 'delayed', 'age'],
  ['reconnect', 'resume', 'lost line', 'connection lost'],
  ['dataloader', 'loader', 'batching', 'n+1'],
  ['tracing', 'traces', 'opentelemetry', 'otel', 'span'],
  ['monitoring', 'metrics', 'prometheus', 'grafana', 'dashboard', 'datadog'],
  ['on-call', 'alert', 'page', 'incident', 'runbook'],
  ['android', 'kotlin', 'jvm'],
  ['ios', 'swift'],
  ['federation', 'subgraph', 'supergraph', 'router'],
  ['upgrade', 'update', 'release', 'version'],
  ['shutdown', 'drain', 'sigterm'],
  ['proxy', 'load balancer', 'nginx', 'haproxy', 'ingress'],
  ['mock', 'fake', 'sandbox', 'simulate'],
  ['validate', 'check', 'verify'],
  ['custom field', 'own field', 'extension', 'extend the schema'],
  ['rest api', 'own backend', 'microservice', 'http service', 'extension'],
  ['withdraw', 'withdrawal', 'payout', 'money out'],
  ['trade', 'position', 'holding'],
  ['down', 'outage', 'unavailable', 'out of reach', 'failure'],
  ['probe', 'liveness', 'readiness', 'health check', 'healthcheck'],
  ['precision', 'decimal', 'rounding', 'digits'],
  ['sticky', 'affinity', 'route'],
  ['whole screen', 'whole dashboard', 'one request', 'round trip', 'home screen'],
];

/** @type {typeof import('./search.js').WORDS} */
export const WORDS = new Map([
  [
    'What it does not do',
    'cancel close amend pending order position refresh file upload, historical price history chart candles, two factor 2fa mfa',
  ],
  ['What a client has to do', 'flutter dart python golang another language client'],
  ['Staying signed in', '401 after a while, session expired, get refresh renew token'],
  ['What gets out', 'gdpr privacy personal data, log pii email addresses'],
  ['Which requests are cross-site', 'cors error blocked'],
  ['All variables', 'disable enable introspection'],
  [
    'A load balancer of your own',
    'behind cloudflare cdn haproxy nginx config proxy websocket disconnects idle minute, file descriptor ulimit, http2 https tls termination',
  ],
  ['Who is charged', 'x-forwarded-for client ip too many connections'],
  ['Signing in', 'brute force password lockout'],
  ['Using it, and taking updates', 'install npm package registry'],
  ['Memory', 'memory limit oom kubernetes'],
  ['The container', 'graphql playground, run as non root user'],
  ['A client of few parts', 'bundle size'],
  ['Battery', 'battery drain'],
  ['On cellular', 'reduce data usage traffic cellular'],
  ['Upgrades', 'zero downtime deploy'],
  ['Extensions', 'add field to type instrument'],
  ['The kit', 'custom scalar'],
  ['The hooks', 'next.js server side rendering ssr'],
  ['What its answers have to be', 'gateway returns 500'],
  ['Fewer bytes', 'compression gzip brotli deflate'],
  ['Answers that nobody reads', 'slow client consumer backpressure'],
  ['The service itself', 'denial of service ddos attack flood abuse'],
  ['Following an account live', 'how often positions are polled, polling interval'],
  ['Users', 'bearer token for testing, test accounts'],
  ['Placing an order', 'fractional shares'],
  ['Several processes on one machine', 'without docker, bare metal vm'],
  ['What grows', 'memory usage per connection'],
]);

const STOP_WORDS = new Set(
  'a an and are as at be by can do does for from how i if in into is it its me my not of on or our so that the their there this to was we what when where which who why will with you your'.split(
    ' ',
  ),
);

/**
 * A light stem, so that "limits", "limiting" and "limited" are one word.
 *
 * @param {string} word
 */
function stem(word) {
  // It would be found as the beginning of "core".
  if (word === 'cors') return word;
  const base = word
    .replace(/'s$/, '')
    .replace(/(ss|x|ch|sh)es$/, '$1')
    .replace(/ies$/, 'y')
    .replace(/([^s])s$/, '$1');
  if (base.length < 6) return base;
  return base
    .replace(/(?:at(?:ion|ing|ed|e)|ing|ed)$/, '')
    .replace(/([bdgmnprt])\1$/, '$1')
    .replace(/e$/, '');
}

/** @param {string} term */
function processTerm(term) {
  const word = term.toLowerCase();
  return STOP_WORDS.has(word) ? null : stem(word);
}

/**
 * The words of a text: `idempotencyKey`, `ORDER_STORE` and `graphql-ws` are found by their parts as well.
 *
 * @param {string} text
 */
function tokenize(text) {
  return text.split(/[^\p{L}\p{N}+]+/u).flatMap((word) => {
    const all = word.match(/\p{Lu}?[\p{Ll}\p{N}]+|\p{Lu}+(?!\p{Ll})/gu) ?? [];
    const parts = all.filter(({ length }) => length > 1);
    return parts.length > 1 ? [word, ...parts] : word ? [word] : [];
  });
}

const SYNONYM_WEIGHT = 0.35;

/** @param {ReadonlySet<string>} words */
function synonymsOf(words) {
  const has = (/** @type {string} */ phrase) =>
    tokenize(phrase).every((word) => words.has(stem(word)));
  return SYNONYMS.filter((group) => group.some(has))
    .flat()
    .flatMap(tokenize);
}

/**
 * Searches the sections of pages: the best section of each page, the best page first. The index is built here, by the
 * service and in the browser alike, in turns with whatever else runs there.
 *
 * @type {typeof import('./search.js').createSearch}
 */
export async function createSearch(MiniSearch, sections) {
  const options = { tokenize, processTerm, fields: ['page', 'title', 'words', 'text'] };
  const index = new MiniSearch(options);
  // The first section of a page has the page's title, which counts once.
  const titleOf = (/** @type {import('./search.js').Section} */ { title, page }) =>
    title === page ? '' : title;
  await index.addAllAsync(
    sections.map((section, id) => {
      const words = WORDS.get(section.title) ?? '';
      return { ...section, id, title: titleOf(section), words };
    }),
  );

  return (query) => {
    const asked = new Set(tokenize(query).flatMap((word) => processTerm(word) ?? []));
    const added = synonymsOf(asked);
    const found = index.search([query, ...added].join(' '), {
      boost: { page: 3, title: 2, words: 2 },
      prefix: (term) => term.length > 2,
      weights: { prefix: 0.375, fuzzy: 0.3 },
      fuzzy: (term) => (term.length > 4 && asked.has(term) ? 0.2 : false),
      boostTerm: (term) => (asked.has(term) ? 1 : SYNONYM_WEIGHT),
      boostDocument: (id) => sections[id]?.weight ?? 1,
    });
    return groupByPage(sections, found, asked);
  };
}

/**
 * The sections of a page count together: a page that has every word, in several of them, is before one that has some.
 *
 * @param {readonly import('./search.js').Section[]} sections
 * @param {readonly import('minisearch').SearchResult[]} found
 * @param {ReadonlySet<string>} asked
 */
function groupByPage(sections, found, asked) {
  /** @type {Map<string, { section: import('./search.js').Section, terms: string[], score: number, rest: number, has: Set<string> }>} */
  const pages = new Map();
  for (const { id, score, terms, queryTerms } of found) {
    const section = sections[id];
    if (section === undefined) continue;
    const page = pages.get(section.path) ?? { section, terms, score, rest: 0, has: new Set() };
    if (page.section !== section) page.rest = Math.max(page.rest, score);
    for (const term of queryTerms) if (asked.has(term)) page.has.add(term);
    pages.set(section.path, page);
  }
  return [...pages.values()]
    .map(({ section, terms, score, rest, has }) => {
      const coverage = has.size / Math.max(1, asked.size);
      return { section, terms, score: (score + rest / 3) * (0.3 + coverage) };
    })
    .sort((a, b) => b.score - a.score);
}

const BEFORE = 60;
const MAX_EXCERPT = 180;

/** @type {typeof import('./search.js').excerptOf} */
export function excerptOf({ section: { text }, terms }) {
  const words = terms.map((term) => term.replace(/[^\p{L}\p{N}]/gu, '\\$&'));
  const word = new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join('|')})[\\p{L}\\p{N}]*`, 'giu');
  const first = Math.max(0, text.search(word));
  const from = first <= BEFORE ? 0 : text.indexOf(' ', first - BEFORE) + 1;
  const end =
    text.length - from <= MAX_EXCERPT ? text.length : text.lastIndexOf(' ', from + MAX_EXCERPT);
  const excerpt = text.slice(from, end);
  /** @type {import('./search.js').Piece[]} */
  const pieces = [{ text: from > 0 ? '… ' : '', isFound: false }];
  let at = 0;
  for (const { 0: found, index } of excerpt.matchAll(word)) {
    pieces.push({ text: excerpt.slice(at, index), isFound: false }, { text: found, isFound: true });
    at = index + found.length;
  }
  pieces.push({ text: `${excerpt.slice(at)}${end < text.length ? ' …' : ''}`, isFound: false });
  return pieces.filter((piece) => piece.text !== '');
}
