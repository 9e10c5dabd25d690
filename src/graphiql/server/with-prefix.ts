/** The page with its links, files and forms below a path prefix, as visitors see them. */
export function withPrefix(html: string, publicPath: string): string {
  return html.replace(/(\s(?:href|src|action)=")\/(?!\/)/g, `$1${publicPath}/`);
}
