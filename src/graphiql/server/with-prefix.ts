/** Puts the path prefix of the service before the addresses of a page's links, files and forms. */
export function withPrefix(html: string, publicPath: string): string {
  return html.replace(/(\s(?:href|src|action)=")\/(?!\/)/g, `$1${publicPath}/`);
}
