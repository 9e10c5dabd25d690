import { h } from './dom.ts';

const TOKEN = new RegExp(
  [
    '(?<comment>(?:#|//)[^\\n]*)',
    `(?<text>'(?:[^'\\\\]|\\\\.)*'|"(?:[^"\\\\]|\\\\.)*"|\`(?:[^\`\\\\]|\\\\.)*\`)`,
    '(?<variable>\\$\\w+)',
    '(?<number>\\b\\d[\\d_.]*\\b)',
    '(?<keyword>\\b(?:query|mutation|subscription|fragment|on|import|from|const|await|async|new|return|export|curl|true|false|null)\\b)',
    '(?<name>\\b[A-Z]\\w*)',
  ].join('|'),
  'g',
);

/** Code as spans with classes. It is for the eye alone: a token that is taken for another does no harm. */
export function highlight(code: string): readonly (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let at = 0;
  for (const { 0: text, index, groups = {} } of code.matchAll(TOKEN)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    nodes.push(code.slice(at, index), h('span', { class: `code-${kind}` }, text));
    at = index + text.length;
  }
  return [...nodes, code.slice(at)];
}
