// Open files and memory of processes.

import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'

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

/** Resident memory of a process in bytes, now (`VmRSS`) or at its peak (`VmHWM`). @throws without such a process */
export function readMemory(pid: number | undefined, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status) ?? []
  return Number(kilobytes) * 1024
}
