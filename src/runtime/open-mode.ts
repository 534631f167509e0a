// Permissions of files with secrets.

const OTHERS = 0o077
const PERMISSIONS = 0o777

/** Returns the fault of a file that other users can open, such as `(mode 0640)`, by its mode; undefined: none can. */
export function openModeFault(mode: number): string | undefined {
  const permissions = (mode & PERMISSIONS).toString(8).padStart(4, '0')
  return (mode & OTHERS) === 0 ? undefined : `can be opened by other users (mode ${permissions})`
}
