/** A field that a document selects. */
export interface SelectedField {
  readonly name: string;
  /** Its alias, or else its name. */
  readonly key: string;
  readonly fields: readonly SelectedField[];
}

/** A word of a document, and the words in the braces after it. */
interface Node {
  readonly word: string;
  nodes: readonly Node[];
}

/** The outermost fields of the document's first operation, with those of its fragments of any type. */
export function selectedFields(document: string): readonly SelectedField[] {
  // Texts, comments, arguments and directives are dropped. The tokens are braces, spreads, and names with their aliases.
  const definitions = nodesOf(
    document
      .replace(/"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n])*"|#.*/g, ' ')
      .replace(/\([^()]*\)|@\w+/g, ' ')
      .match(/[{}]|\.{3}\s*(?:on\b\s*)?\w*|(?:\w+\s*:\s*)?\w+/g) ?? [],
  );
  // The braces of `fragment F on T { … }` belong to its fourth word, and its name is the second word.
  const isFragment = (at: number) => definitions[at - 3]?.word === 'fragment';
  const spread = (name: string) =>
    definitions.find((_node, at) => isFragment(at) && definitions[at - 2]?.word === name);
  const flat = (nodes: readonly Node[]): readonly Node[] =>
    nodes.flatMap((node) => {
      if (!node.word.startsWith('...')) return [node];
      const { nodes: own = [] } =
        node.nodes.length > 0 ? node : (spread(node.word.slice(3).trim()) ?? {});
      return flat(own);
    });
  const fieldsOf = (nodes: readonly Node[]): readonly SelectedField[] => {
    const byWord = new Map<string, readonly Node[]>();
    for (const { word, nodes: inner } of flat(nodes))
      byWord.set(word, [...(byWord.get(word) ?? []), ...inner]);
    return [...byWord].map(([word, inner]) => {
      const [key = '', name = key] = word.split(/\s*:\s*/);
      return { name, key, fields: fieldsOf(inner) };
    });
  };
  const operation = definitions.find(({ nodes }, at) => nodes.length > 0 && !isFragment(at));
  return fieldsOf(operation?.nodes ?? []);
}

/** The selected fields of a value. Fields that it lacks are null. */
export function selectedOf(value: unknown, fields: readonly SelectedField[]): unknown {
  if (Array.isArray(value)) return value.map((each) => selectedOf(each, fields));
  if (typeof value !== 'object' || value === null || fields.length === 0) return value ?? null;
  const own = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    fields.map(({ key, name, fields: inner }) => [key, selectedOf(own[name], inner)]),
  );
}

function nodesOf(tokens: string[]): readonly Node[] {
  const nodes: Node[] = [];
  for (let token = tokens.shift(); token !== undefined && token !== '}'; token = tokens.shift()) {
    if (token !== '{' || nodes.length === 0) nodes.push({ word: token, nodes: [] });
    const last = nodes.at(-1);
    if (token === '{' && last) last.nodes = nodesOf(tokens);
  }
  return nodes;
}
