// Files that travel with the program. Today they are read from the source tree beside src/.

import { readFileSync } from 'node:fs'

/** The text of a file at the project's root, such as `schema.sql`. */
export function readAsset(name: string): string {
  return readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
}

export const VERSION: string = JSON.parse(readAsset('package.json')).version
