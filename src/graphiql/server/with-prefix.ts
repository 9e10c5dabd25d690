/** The page with its links, files and forms below a path prefix, as its visitors address them. */
export function withPrefix(html: string, publicPath: string): string {
  return html.replace(/(\s(?:href|src|action)=")\/(?!\/)/g, `$1${publicPath}/`);
}
