/**
 * A field with the arguments that it is sent with, as somebody reads them.
 *
 * @typedef {{ name: string, rows: readonly (readonly [string, string])[] }} SentField
 */

const TOKENS =
  /"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n\r])*"|#[^\n\r]*|[_A-Za-z]\w*|-?\d[\d.eE+-]*|[$:=()[\]{}]/g;
/** It says nothing about what is done. */
const NOT_SHOWN = 'idempotencyKey';

/**
 * The fields of these names in the operation and in all fragments, with their arguments. A document that is no GraphQL, which the
 * server refuses, may bring anything.
 *
 * @param {string} query
 * @param {string | null | undefined} operationName
 * @param {Readonly<Record<string, unknown>>} variables
 * @param {readonly string[]} names
 * @returns {SentField[]}
 */
export function sentFields(query, operationName, variables, names) {
  return definitionsOf(query)
    .filter(([kind, name]) => kind === 'fragment' || !operationName || name === operationName)
    .flatMap((definition) => {
      const given = { ...defaultsOf(definition), ...variables };
      return definition.flatMap((name, at) => {
        if (!names.includes(name) || definition[at + 1] !== '(') return [];
        const values = new Values(definition, at + 2, given).fieldsUntil(')');
        return [{ name, rows: [...rowsOf(values, '')] }];
      });
    });
}

/**
 * The tokens of each definition, but for comments and punctuation that says nothing here. Texts are one token each.
 *
 * @param {string} query
 */
export function definitionsOf(query) {
  /** @type {string[][]} */
  const definitions = [];
  let depth = 0;
  let isNew = true;
  for (const token of query.match(TOKENS) ?? []) {
    if (token.startsWith('#')) continue;
    if (isNew) definitions.push([]);
    isNew = false;
    definitions.at(-1)?.push(token);
    if ('({['.includes(token)) depth += 1;
    if (')}]'.includes(token)) depth -= 1;
    if (token === '}' && depth === 0) isNew = true;
  }
  return definitions;
}

/**
 * The variables that have a default, `$name: Type = value`.
 *
 * @param {readonly string[]} tokens
 */
function defaultsOf(tokens) {
  /** @type {Record<string, unknown>} */
  const defaults = {};
  for (const [at, token] of tokens.entries()) {
    const name = tokens[at + 1];
    if (token !== '$' || name === undefined || tokens[at + 2] !== ':') continue;
    let end = at + 3;
    while (/^[\w[\]]+$/.test(tokens[end] ?? '')) end += 1;
    if (tokens[end] === '=') defaults[name] = new Values(tokens, end + 1, {}).next();
  }
  return defaults;
}

/** Reads values from their tokens. */
class Values {
  #tokens;
  #at;
  #variables;

  /**
   * @param {readonly string[]} tokens
   * @param {number} at
   * @param {Readonly<Record<string, unknown>>} variables
   */
  constructor(tokens, at, variables) {
    this.#tokens = tokens;
    this.#at = at;
    this.#variables = variables;
  }

  /**
   * @param {string} end
   * @returns {Record<string, unknown>}
   */
  fieldsUntil(end) {
    /** @type {Record<string, unknown>} */
    const fields = {};
    while (!this.#isAt(end)) {
      const name = this.#take();
      this.#take();
      fields[name] = this.next();
    }
    this.#take();
    return fields;
  }

  /** @returns {unknown} */
  next() {
    const token = this.#take();
    if (token === '$') return this.#variables[this.#take()];
    if (token === '{') return this.fieldsUntil('}');
    if (token === '[') return this.#listUntilEnd();
    if (token.startsWith('"""')) return token.slice(3, -3);
    return token.startsWith('"') ? textOf(token) : token;
  }

  #listUntilEnd() {
    const list = [];
    while (!this.#isAt(']')) list.push(this.next());
    this.#take();
    return list;
  }

  /** @param {string} end */
  #isAt(end) {
    return this.#at >= this.#tokens.length || this.#tokens[this.#at] === end;
  }

  #take() {
    const token = this.#tokens[this.#at] ?? '';
    this.#at += 1;
    return token;
  }
}

/** @param {string} token */
function textOf(token) {
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}

/**
 * @param {unknown} value
 * @param {string} path
 * @returns {Generator<readonly [string, string]>}
 */
function* rowsOf(value, path) {
  if (value === undefined) return;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    yield [path, typeof value === 'object' ? JSON.stringify(value) : String(value)];
    return;
  }
  for (const [name, each] of Object.entries(value)) {
    // Each mutation has one argument, whose name says nothing.
    if (name === NOT_SHOWN) continue;
    yield* rowsOf(each, path === '' && name === 'input' ? '' : `${path && `${path}.`}${name}`);
  }
}
