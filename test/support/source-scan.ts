/** The parts of one source file, separated without a compiler. */
export interface SourceScan {
  /** The code, with comments and the contents of texts blanked out. */
  readonly code: string;
  readonly comments: readonly string[];
  /** Its imports and re-exports in any form: types, side effects, `import()`. */
  readonly imports: readonly string[];
}

// Where one of these stands before a slash, the slash begins a regular expression, not a division.
const BEFORE_REGEX =
  /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else|yield|await))\s*$/;
const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"|[`/{}]/g;
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
const TEMPLATE_PART = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(`|\$\{)/y;
const SPECIFIER = /(?:\bfrom\s*|\bimport\s*\(?\s*)(\d+)«/g;

export function scanSource(source: string): SourceScan {
  const texts: string[] = [];
  const comments: string[] = [];
  let code = '';
  let at = 0;
  // One entry for each `${` that is open: how many braces are open inside it.
  const braces: number[] = [];

  const skipTemplate = () => {
    TEMPLATE_PART.lastIndex = at;
    const end = TEMPLATE_PART.exec(source);
    at = end === null ? source.length : TEMPLATE_PART.lastIndex;
    if (end?.[1] === '${') braces.push(0);
  };

  while (at < source.length) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(source);
    if (token === null) break;
    code += source.slice(at, token.index);
    at = TOKEN.lastIndex;
    const [text] = token;
    const open = braces.at(-1);
    if (text.startsWith('//') || text.startsWith('/*')) {
      comments.push(text);
      code += ' ';
    } else if (text === '`') {
      code += '``';
      skipTemplate();
    } else if (text === '/') {
      REGEX.lastIndex = token.index;
      const regex = BEFORE_REGEX.test(code.slice(-60)) ? REGEX.exec(source) : null;
      if (regex !== null) at = REGEX.lastIndex;
      code += regex === null ? '/' : ' 0 ';
    } else if (text === '{' || text === '}') {
      if (open !== undefined) braces[braces.length - 1] = open + (text === '{' ? 1 : -1);
      if (open === 0 && text === '}') {
        braces.pop();
        skipTemplate();
      } else {
        code += text;
      }
    } else {
      // The number finds the text again; the mark cannot stand in code.
      code += `${texts.push(text.slice(1, -1)) - 1}«`;
    }
  }
  code += source.slice(at);
  const imports = [...code.matchAll(SPECIFIER)].map((match) => texts[Number(match[1])] ?? '');
  return { code, comments, imports };
}
