// Operators read these instead of "ENOTDIR: not a directory, open '/a/b'".
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is a file, not a folder',
  ELOOP: 'its symbolic links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many files are open',
  EAGAIN: 'it cannot be read now',
  EIO: 'the disk fails',
};

/** Describes a failure in a few words on one line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  const known = code !== undefined && Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
  return known ?? error.message.replace(/\s+/g, ' ');
}
