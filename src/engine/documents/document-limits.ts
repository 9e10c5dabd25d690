import {
  type DirectiveNode,
  type DocumentNode,
  type ExecutableDefinitionNode,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  isExecutableDefinitionNode,
  Kind,
  Lexer,
  parse,
  type SelectionSetNode,
  Source,
  TokenKind,
} from 'graphql';
import { memo } from '../../lib/caches.ts';
import { traitOf } from '../../lib/field-traits.ts';
import { withoutStack } from '../../lib/public-error.ts';
import { located, requestError, tooComplex } from '../core/errors.ts';
import { type Fragments, responseKey, type Selections } from '../core/selections.ts';
import { redactSyntax } from './redact-literals.ts';

export interface DocumentLimits {
  readonly maxTokens: number;
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxDirectives: number;
}

// Far more than any person or tool writes, and far less than the stack can hold.
const MAX_NESTING = 500;

const OPENING: ReadonlySet<string> = new Set([
  TokenKind.BRACE_L,
  TokenKind.BRACKET_L,
  TokenKind.PAREN_L,
]);
const CLOSING: ReadonlySet<string> = new Set([
  TokenKind.BRACE_R,
  TokenKind.BRACKET_R,
  TokenKind.PAREN_R,
]);

/** Parses a text within the limits, or returns an error. */
export function parseDocument(text: string, maxTokens: number) {
  const { tokens, nesting } = sizeOf(text, maxTokens);
  const invalid = (error: GraphQLError) => ({ kind: 'invalid', errors: [error], tokens }) as const;
  if (tokens > maxTokens) return invalid(tooComplex('MAX_TOKENS', tokens, maxTokens));
  if (nesting > MAX_NESTING) return invalid(tooComplex('nesting', nesting, MAX_NESTING));
  try {
    return { kind: 'document', document: withoutStack(() => parse(text)), tokens } as const;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const message = redactSyntax(error.message);
    return invalid(located(requestError('GRAPHQL_PARSE_FAILED', message), error));
  }
}

/**
 * Measures a text before the parser and validation recurse into its brackets: a few kilobytes of brackets would overflow
 * the stack. Tokens are counted up to one over the limit. If there are more lines than tokens, lines count, because the
 * library reads them for every error.
 */
function sizeOf(text: string, maxTokens: number) {
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  let depth = 0;
  let nesting = 0;
  try {
    while (tokens <= maxTokens) {
      const { kind } = lexer.advance();
      if (kind === TokenKind.EOF) break;
      tokens += 1;
      if (OPENING.has(kind)) depth += 1;
      else if (CLOSING.has(kind)) depth -= 1;
      nesting = Math.max(nesting, depth);
    }
  } catch {
    // The parser stops at an unreadable token as well, and reports it.
  }
  return { tokens: Math.max(tokens, lexer.line), nesting };
}

const MAX_VARIABLES = 100;
const MAX_MUTATION_FIELDS = 5;
// The paths of errors and parts repeat response keys, and each part repeats the label of its `@defer`.
const MAX_NAME_LENGTH = 255;
// These limits bound the checks themselves: a few fragments that spread each other expand to millions of selections.
const MAX_SELECTIONS = 10_000;
const MAX_REPEATED_PAIRS = 10_000;

type Check = (limit: Parameters<typeof tooComplex>[0], value: number, maximum: number) => void;

/**
 * Checks each operation with its fragments expanded, and each fragment alone, because validation checks unused fragments
 * too. Each limit is reported once.
 */
export function limitErrors(
  { definitions }: DocumentNode,
  limits: DocumentLimits,
  { schema, fragments }: Selections,
): readonly GraphQLError[] {
  const errors = new Map<string, GraphQLError>();
  const totals: Totals = { selections: 0, repeatedPairs: 0 };
  for (const node of definitions) {
    if (!isExecutableDefinitionNode(node)) continue;
    const check: Check = (limit, value, maximum) => {
      if (value <= maximum || errors.has(limit)) return;
      const error = tooComplex(limit, value, maximum);
      const isOneOfSeveral = definitions.length > 1;
      errors.set(limit, isOneOfSeveral ? located(error, { nodes: [node] }) : error);
    };
    const { directives: own = [], variableDefinitions: variables = [] } = node;
    const ofVariables = variables.flatMap((variable) => variable.directives ?? []);
    const size = new ExpandedSize(node, fragments, totals);
    const directives = size.directives + own.length + ofVariables.length;
    check('variables', variables.length, MAX_VARIABLES);
    check('MAX_DEPTH', size.depth, limits.maxDepth);
    check('name length', size.longestName, MAX_NAME_LENGTH);
    check('MAX_ALIASES', size.aliases, limits.maxAliases);
    check('MAX_DIRECTIVES', directives, limits.maxDirectives);
    check('selections', totals.selections, MAX_SELECTIONS);
    check('repeated fields', totals.repeatedPairs, MAX_REPEATED_PAIRS);
    const isMutation = 'operation' in node && node.operation === 'mutation';
    if (isMutation) checkMutation(size.rootFields, schema, check);
  }
  return [...errors.values()];
}

function checkMutation(
  selected: ReadonlyMap<string, number>,
  schema: GraphQLSchema,
  check: Check,
): void {
  const all = [...selected.values()].reduce((total, count) => total + count, 0);
  check('mutation fields', all, MAX_MUTATION_FIELDS);
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const maximum = traitOf(field, 'mostSelected') ?? Infinity;
    check(`${field.name} fields`, selected.get(field.name) ?? 0, maximum);
  }
}

/** The counts of a definition together with all definitions before it. */
interface Totals {
  /** Counting stops just above the limit. */
  selections: number;
  /** The number of pairs of selections with the same place in the answer. Validation compares each pair. */
  repeatedPairs: number;
}

interface Place {
  selections: number;
  readonly inner: Places;
}

/** The selections with the same place in the answer, by response key. All fragment spreads are stored under '...'. */
type Places = Map<string, Place>;

/** The size of an operation or a fragment, with its fragments expanded. */
class ExpandedSize {
  depth = 0;
  aliases = 0;
  directives = 0;
  /** The length of the longest response key, or text of a directive. */
  longestName = 0;
  readonly rootFields = new Map<string, number>();
  readonly totals: Totals;
  readonly #fragments: Fragments;
  /** The fragments around a selection. A fragment that leads back to itself is skipped, because validation reports it. */
  readonly #enclosing = new Set<string>();

  constructor(node: ExecutableDefinitionNode, fragments: Fragments, totals: Totals) {
    this.#fragments = fragments;
    this.totals = totals;
    this.#add(node.selectionSet, 1, new Map());
  }

  #add({ selections }: SelectionSetNode, depth: number, places: Places): void {
    for (const selection of selections) {
      if (this.totals.selections > MAX_SELECTIONS) return;
      this.totals.selections += 1;
      for (const directive of selection.directives ?? []) this.#addDirective(directive);
      if (selection.kind === Kind.FIELD) this.#addField(selection, depth, places);
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        this.#add(selection.selectionSet, depth, places);
      else this.#addSpread(selection.name.value, depth, places);
    }
  }

  #addDirective({ arguments: args = [] }: DirectiveNode): void {
    this.directives += 1;
    for (const { value } of args) if (value.kind === Kind.STRING) this.#addName(value.value);
  }

  #addName({ length }: string): void {
    this.longestName = Math.max(this.longestName, length);
  }

  #addField(field: FieldNode, depth: number, places: Places): void {
    const { alias, name, selectionSet } = field;
    this.depth = Math.max(this.depth, depth);
    this.aliases += alias ? 1 : 0;
    this.#addName(responseKey(field));
    if (depth === 1) this.rootFields.set(name.value, (this.rootFields.get(name.value) ?? 0) + 1);
    const { inner } = this.#countSelection(responseKey(field), places);
    if (selectionSet) this.#add(selectionSet, depth + 1, inner);
  }

  #addSpread(name: string, depth: number, places: Places): void {
    // Validation compares fragment spreads pairwise, like fields.
    this.#countSelection('...', places);
    const fragment = this.#fragments.get(name);
    if (!fragment || this.#enclosing.has(name)) return;
    this.#enclosing.add(name);
    this.#add(fragment.selectionSet, depth, places);
    this.#enclosing.delete(name);
  }

  #countSelection(key: string, places: Places): Place {
    const place = memo(places, key, (): Place => ({ selections: 0, inner: new Map() }));
    this.totals.repeatedPairs += place.selections;
    place.selections += 1;
    return place;
  }
}
