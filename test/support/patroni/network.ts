// A network of hosts on this machine: a namespace for each, over a bridge. A host without its link sends and receives
// nothing. Its connections do not end, as with a pulled cable. No packet leaves the machine. Needs root.
//
// A shell in between outlives this process, even if it is killed. At the end of its input it kills the processes of all
// hosts, and removes namespaces, bridge and directory.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { NOBODY } from '../postgres/server.ts'

export type Network = {
  /** Address of host number `at`, from 1. */
  address(at: number): string
  /** Starts a program on a host, as nobody. Its output is appended to a file. */
  run(at: number, words: readonly string[], log: string): ChildProcess
  /** Ids of the processes of a host. */
  processes(at: number): number[]
  cut(at: number): void
  mend(at: number): void
  close(): Promise<void>
}

/** Creates `hosts` hosts. `dir` is removed at the end. */
export function openNetwork(hosts: number, dir: string): Network {
  if (process.getuid?.() !== 0) throw new Error('a network of namespaces needs root')
  const number = freeNumber()
  const bridge = `cbt${number}`
  const numbers = Array.from({ length: hosts }, (_, at) => at + 1)
  const name = (at: number) => `${bridge}-${at}`
  const address = (at: number) => `10.213.${number}.${at}`
  const cleaner = spawn('/bin/sh', ['-c', CLEAN, 'cleaner', dir, bridge, ...numbers.map(name)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  cleaner.unref()
  ip('link', 'add', bridge, 'type', 'bridge')
  ip('addr', 'add', `${address(254)}/24`, 'dev', bridge)
  ip('link', 'set', bridge, 'up')
  for (const at of numbers) {
    ip('netns', 'add', name(at))
    ip('link', 'add', name(at), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name(at))
    ip('link', 'set', name(at), 'master', bridge, 'up')
    ip('-n', name(at), 'addr', 'add', `${address(at)}/24`, 'dev', 'eth0')
    ip('-n', name(at), 'link', 'set', 'eth0', 'up')
    ip('-n', name(at), 'link', 'set', 'lo', 'up')
  }
  const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
  return {
    address,
    run(at, words, log) {
      const output = openSync(log, 'a')
      const child = spawn('ip', ['netns', 'exec', name(at), ...asNobody, ...words], {
        cwd: dir,
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC', HOME: dir },
        stdio: ['ignore', output, output],
        detached: true,
      })
      child.unref()
      return child
    },
    processes: (at) => ip('netns', 'pids', name(at)).split('\n').filter(Boolean).map(Number),
    cut: (at) => ip('link', 'set', name(at), 'down'),
    mend: (at) => ip('link', 'set', name(at), 'up'),
    async close() {
      if (cleaner.exitCode !== null) return
      const end = once(cleaner, 'exit')
      cleaner.ref()
      cleaner.stdin.end()
      await end
    },
  }
}

const CLEAN = `dir=$1 bridge=$2; shift 2; read word
for name; do
  while ip netns pids "$name" | xargs -r kill -KILL; [ -n "$(ip netns pids "$name")" ]; do sleep 0.1; done
done
for name; do ip netns del "$name"; done
ip link del "$bridge"; rm -rf "$dir"`

/** Number of a network that no bridge has, from the id of this process on. */
function freeNumber(): number {
  for (let number = process.pid % 250; ; number = (number + 1) % 250)
    if (!existsSync(`/sys/class/net/cbt${number}`)) return number
}

function ip(...words: string[]): string {
  return execFileSync('ip', words, { encoding: 'utf8' })
}
