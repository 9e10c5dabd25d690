import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { temporaryFolder } from './own-folder.ts';

const NEW_KEY = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
const LOCALHOST = '-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1';

/** A server's key and certificate for 127.0.0.1, which no authority has signed. */
export async function makeCertificate() {
  const folder = await temporaryFolder();
  const words = `req -x509 ${NEW_KEY} -days 1 ${LOCALHOST} -keyout key.pem -out certificate.pem`;
  execFileSync('openssl', words.split(' '), { cwd: folder.path, stdio: 'ignore' });
  return {
    key: join(folder.path, 'key.pem'),
    certificate: join(folder.path, 'certificate.pem'),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
