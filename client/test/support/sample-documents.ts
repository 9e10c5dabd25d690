import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  isObjectType,
  Kind,
  KnownDirectivesRule,
  NoUnusedFragmentsRule,
  parse,
  type SelectionSetNode,
  specifiedRules,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Sample } from './samples.ts';

/** A GraphQL document of a sample: a block of its own, or a text in a program. */
export interface SampleDocument {
  readonly place: string;
  readonly text: string;
}

const root = join(import.meta.dirname, '..', '..', '..');
const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'));
// Fragments are often used by another sample, and Relay's directives are known to its compiler alone.
const rules = specifiedRules.filter(
  (rule) => rule !== NoUnusedFragmentsRule && rule !== KnownDirectivesRule,
);
const PROGRAMS = new Set(['ts', 'tsx', 'js', 'jsx']);
const DOCUMENT = /(['`])(\s*(?:\{|(?:query|mutation|subscription|fragment)\b)[^'`]*)\1/g;

export function documentsOf({ page, line, language, text }: Sample): readonly SampleDocument[] {
  if (language === 'graphql') return [{ place: `${page}:${line}`, text }];
  if (!PROGRAMS.has(language)) return [];
  return [...text.matchAll(DOCUMENT)].flatMap(({ 2: found = '', index }) => {
    const before = text.slice(0, index).split('\n').length - 1;
    return isDocument(found) ? [{ place: `${page}:${line + before}`, text: found }] : [];
  });
}

/** The errors in the documents of one page, which may use one another's fragments. */
export function problemsOf(documents: readonly SampleDocument[]): readonly string[] {
  const parsed = documents.map(({ place, text }) => ({ place, document: parse(text) }));
  const fragments = new Map(
    parsed
      .flatMap(({ document }) => document.definitions)
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  return parsed.flatMap(({ place, document }) => {
    const others = [...fragments.values()].filter((each) => !document.definitions.includes(each));
    const whole: DocumentNode = { ...document, definitions: [...document.definitions, ...others] };
    const errors = validate(schema, whole, rules).map(({ message }) => message);
    return [...errors, ...missingIds(whole, fragments)].map((found) => `${place}: ${found}`);
  });
}

/** Objects that have an id and are selected without it: a normalized cache could not keep them. */
function missingIds(
  document: DocumentNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): readonly string[] {
  const found: string[] = [];
  const info = new TypeInfo(schema);
  const selectsId = (set: SelectionSetNode): boolean =>
    set.selections.some((node) => {
      if (node.kind === Kind.FIELD) return node.name.value === 'id' && node.alias === undefined;
      if (node.kind === Kind.INLINE_FRAGMENT) return selectsId(node.selectionSet);
      const fragment = fragments.get(node.name.value);
      return fragment !== undefined && selectsId(fragment.selectionSet);
    });
  visit(
    document,
    visitWithTypeInfo(info, {
      Field(field: FieldNode) {
        const type = getNamedType(info.getType());
        if (!isObjectType(type) || !('id' in type.getFields()) || !field.selectionSet) return;
        if (!selectsId(field.selectionSet)) {
          found.push(`\`${field.name.value}\` selects no id of ${type.name}`);
        }
      },
    }),
  );
  return found;
}

function isDocument(text: string): boolean {
  try {
    return parse(text) !== null;
  } catch {
    return false;
  }
}
