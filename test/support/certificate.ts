import { join } from 'node:path';

/**
 * A file with the certificate and the key of a server on 127.0.0.1, which no authority has signed. It is valid until 2120,
 * and is kept here because not every machine has a program that makes certificates.
 */
export const TEST_CERTIFICATE = join(import.meta.dirname, 'certificate.pem');
