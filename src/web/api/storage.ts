// Storage of the browser, which may be forbidden: it then has nothing.

export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null // the browser forbids storage
  }
}

/** @param value null: removes what is stored @returns false if the browser forbids storage */
export function writeStored(name: string, value: string | null): boolean {
  try {
    if (value === null) localStorage.removeItem(name)
    else localStorage.setItem(name, value)
    return true
  } catch {
    return false // the caller reports it, or the value lasts until the page is closed
  }
}
