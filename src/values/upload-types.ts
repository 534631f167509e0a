// Media types of files to send, of which some systems know few.

const TYPES_BY_EXTENSION = new Map(
  Object.entries({
    csv: 'text/csv',
    json: 'application/json',
    md: 'text/markdown',
    txt: 'text/plain',
    xml: 'application/xml',
    pdf: 'application/pdf',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    png: 'image/png',
    docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  }),
)

/** Media type of a file to upload: the sent one, else by extension. */
export function uploadType(name: string, type: string): string {
  if (type !== '') return type
  return TYPES_BY_EXTENSION.get(/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '') ?? 'application/octet-stream'
}
