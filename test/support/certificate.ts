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

/** Two for 127.0.0.1 that an authority has signed: one is valid, the time of the other is over. */
export async function makeSignedCertificates() {
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-tls-'));
  const run = (words: string) =>
    execFileSync('openssl', words.split(' '), { cwd: folder, stdio: 'ignore' });
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  run(`req -x509 ${newKey} -days 1 -subj /CN=authority -keyout authority.key -out authority.pem`);
  run(
    `req -new ${newKey} -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out request.pem`,
  );
  const signed = (days: number, name: string) => {
    const signing = '-CA authority.pem -CAkey authority.key -CAcreateserial -copy_extensions copy';
    run(`x509 -req -in request.pem ${signing} -days ${days} -out ${name}`);
    return { key: join(folder, 'key.pem'), certificate: join(folder, name) };
  };
  return {
    valid: signed(1, 'valid.pem'),
    expired: signed(-1, 'expired.pem'),
    authority: join(folder, 'authority.pem'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
