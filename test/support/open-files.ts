import { readdirSync, readlinkSync, realpathSync } from 'node:fs'

/** Paths of the files below the directory `dir` that this process has open. Other files come and go with libraries. */
export function listOpenFiles(dir: string): string[] {
  const links = readdirSync('/proc/self/fd').flatMap((file) => {
    try {
      return [readlinkSync(`/proc/self/fd/${file}`)]
    } catch {
      return [] // the descriptor of the listing itself
    }
  })
  const parent = `${realpathSync(dir)}/`
  return links.filter((path) => path.startsWith(parent))
}
