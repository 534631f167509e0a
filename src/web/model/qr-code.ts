// QR code of a text as the path of an SVG. Level L: a printed page needs no further correction, and larger modules are
// easier to read.

import { encode } from 'uqr'

const QUIET_ZONE = 4 // modules, as the standard requires

/** @returns `size`: width in modules, with the quiet zone */
export function qrCode(text: string): { size: number; path: string } {
  const { data, size } = encode(text, { ecc: 'L', border: QUIET_ZONE })
  return { size, path: qrPath(data) }
}

/** Returns a rectangle for each run of dark modules. @param rows true: dark */
export function qrPath(rows: readonly (readonly boolean[])[]): string {
  let path = ''
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x += 1) {
      if (!row[x]) continue
      const start = x
      while (row[x + 1]) x += 1
      path += `M${start} ${y}h${x - start + 1}v1H${start}z`
    }
  }
  return path
}
