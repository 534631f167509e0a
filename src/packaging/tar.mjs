// Writes tar archives in the format ustar. The bytes depend on the entries alone: nothing comes from the file system.

const BLOCK = 512
const TYPES = { file: '0', link: '2', folder: '5' }

/**
 * Returns the bytes of an archive of entries, in order of their names, with the folders that they are in. An entry is
 * `{ name, content }` or `{ name, link }`. A name that ends in / is that of a folder. Two more properties are optional:
 * `mode`, and `owner`, the number of user and group. `time`: seconds since 1970, of all entries.
 */
export function tar(entries, time) {
  const byName = new Map(entries.flatMap(({ name }) => parentFolders(name)).map((name) => [name, { name }]))
  for (const entry of entries) byName.set(entry.name, entry)
  const inOrder = [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  const parts = inOrder.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? '')
    return [header(entry, content.length, time), content, Buffer.alloc(-content.length & (BLOCK - 1))]
  })
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)])
}

function parentFolders(name) {
  const folders = name.split('/').slice(0, name.endsWith('/') ? -2 : -1)
  return folders.map((_, at) => `${folders.slice(0, at + 1).join('/')}/`)
}

function header({ name, content, link = '', mode, owner = 0 }, size, time) {
  const type = name.endsWith('/') ? 'folder' : content === undefined ? 'link' : 'file'
  const usualMode = { file: 0o644, link: 0o777, folder: 0o755 }[type]
  const block = Buffer.alloc(BLOCK)
  const put = (text, at, length) => {
    if (Buffer.byteLength(text) > length) throw new RangeError(`tar has no room for ${text}`)
    block.write(text, at)
  }
  const putNumber = (number, at, length) => put(number.toString(8).padStart(length - 1, '0'), at, length - 1)
  put(name, 0, 100)
  putNumber(mode ?? usualMode, 100, 8)
  putNumber(owner, 108, 8)
  putNumber(owner, 116, 8)
  putNumber(size, 124, 12)
  putNumber(time, 136, 12)
  put(' '.repeat(8), 148, 8) // the checksum counts itself as spaces
  put(TYPES[type], 156, 1)
  put(link, 157, 100)
  put('ustar\0' + '00', 257, 8)
  putNumber(0, 329, 8)
  putNumber(0, 337, 8)
  const sum = block.reduce((total, byte) => total + byte, 0)
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 8)
  return block
}
