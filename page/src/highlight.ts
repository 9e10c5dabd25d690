type TokenKind = 'comment' | 'text' | 'keyword' | 'name' | 'variable' | 'number';

const TOKENS: readonly (readonly [TokenKind, RegExp])[] = [
  ['comment', /(?:#|\/\/)[^\n]*/y],
  ['text', /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/y],
  ['variable', /\$\w+/y],
  ['number', /\b\d[\d_.]*\b/y],
  [
    'keyword',
    /\b(?:query|mutation|subscription|fragment|on|import|from|const|await|async|new|return|export|curl|true|false|null)\b/y,
  ],
  ['name', /\b[A-Z]\w*/y],
];

/** Code as spans with classes. It is for the eye alone: a token that is taken for another does no harm. */
export function highlight(code: string): readonly (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let plain = '';
  let at = 0;
  while (at < code.length) {
    const token = tokenAt(code, at);
    if (token === null) {
      const word = /\w+|[^\w]/y;
      word.lastIndex = at;
      const [text = ''] = word.exec(code) ?? [];
      plain += text;
      at += text.length;
      continue;
    }
    if (plain) nodes.push(plain);
    plain = '';
    const span = document.createElement('span');
    span.className = `code-${token.kind}`;
    span.textContent = token.text;
    nodes.push(span);
    at += token.text.length;
  }
  if (plain) nodes.push(plain);
  return nodes;
}

function tokenAt(code: string, at: number): { kind: TokenKind; text: string } | null {
  for (const [kind, pattern] of TOKENS) {
    pattern.lastIndex = at;
    const text = pattern.exec(code)?.[0];
    if (text) return { kind, text };
  }
  return null;
}
