/**
 * Stands in tsconfig.server.json for packages whose own types would bring a browser's globals along. How they are used
 * is checked against their own types by tsconfig.json.
 */
declare const highlighter: {
  registerLanguage(name: string, language: unknown): void;
  registerAliases(aliases: string[], of: { languageName: string }): void;
  getLanguage(name: string): unknown;
  highlight(code: string, options: { language: string }): { readonly value: string };
};
export default highlighter;
