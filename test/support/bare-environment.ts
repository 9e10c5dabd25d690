/** Only the environment that npm needs to reach its registry, without the variables of the npm that runs the tests. */
export function bareEnvironment(): Record<string, string> {
  const kept = ['HOME', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'TMPDIR'];
  const entries = Object.entries(process.env).filter(
    ([name]) => kept.includes(name) || /^(https?|no)_proxy$/i.test(name),
  );
  const path = (process.env.PATH ?? '')
    .split(':')
    .filter((folder) => !folder.endsWith('node_modules/.bin'));
  return { ...(Object.fromEntries(entries) as Record<string, string>), PATH: path.join(':') };
}
