import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A server's key and certificate for 127.0.0.1, which no authority has signed. */
export async function makeCertificate() {
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-tls-'));
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const request =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost';
  execFileSync(
    'openssl',
    [
      ...request.split(' '),
      ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate],
    ],
    { stdio: 'ignore' },
  );
  return {
    key,
    certificate,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
