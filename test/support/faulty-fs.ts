// The real file system, with a record of the calls in order and the power to let any one of them fail.

import * as nodeFs from 'node:fs/promises'
import type { BlobFs } from '../../src/store/blobs/folder.ts'

export type FaultyFs = {
  fs: BlobFs
  /** `<function> <path relative to the root>`, with `*` for the name of a temporary file. */
  calls: string[]
  /** Lets every call fail for which the answer is a code such as EIO. */
  faults: (call: string, index: number) => Promise<string | undefined> | string | undefined
  /** At most so many bytes are taken by one write. */
  mostWritten: number
  /** What every write waits for. */
  gate: Promise<void>
}

export function createFaultyFs(root: string): FaultyFs {
  const failOrNot = async (name: string, path: string) => {
    const shown = path.replace(root, '').replace(/\/[\w-]{36,}$/, '/*')
    const call = `${name} ${shown === '' ? '/' : shown}`
    const code = await faulty.faults(call, faulty.calls.push(call) - 1)
    if (code !== undefined) throw Object.assign(new Error(`${code}: injected`), { code })
  }

  const watched = (file: nodeFs.FileHandle, path: string): nodeFs.FileHandle => {
    const write = async (bytes: Buffer, at: number, length: number) => {
      await faulty.gate
      await failOrNot('write', path)
      return file.write(bytes, at, Math.min(length, faulty.mostWritten))
    }
    const sync = async () => {
      await failOrNot('sync', path)
      return file.sync()
    }
    const close = async () => {
      await file.close() // what fails to close is closed all the same
      await failOrNot('close', path)
    }
    const replaced = new Map<PropertyKey, unknown>(Object.entries({ write: write, sync, close }))
    return new Proxy(file, {
      get(target, name) {
        const value: unknown = replaced.get(name) ?? Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  const before =
    <A extends unknown[], R>(name: string, call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      await failOrNot(name, String(args[0]))
      return call(...args)
    }

  const faulty: FaultyFs = {
    calls: [],
    faults: () => undefined,
    mostWritten: Number.POSITIVE_INFINITY,
    gate: Promise.resolve(),
    fs: {
      ...nodeFs,
      open: before('open', async (path, flags, mode) =>
        watched(await nodeFs.open(path, flags, mode), String(path)),
      ),
      rename: before('rename', nodeFs.rename),
      unlink: before('unlink', nodeFs.unlink),
      mkdir: before('mkdir', nodeFs.mkdir as (...args: unknown[]) => Promise<never>),
    },
  }
  return faulty
}
