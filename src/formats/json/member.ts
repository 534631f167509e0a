// Cuts a member out of JSON text. Its digits stay as they were written, which no parser into numbers guarantees.

const TOKEN = /\s*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+)/gy

/**
 * Returns the text of a member of the outermost object, without the spaces around it; undefined: none. The last of
 * several members of the name counts. `json`: valid JSON.
 */
export function memberText(json: string, name: string): string | undefined {
  let [depth, start, key] = [0, -1, '']
  let member: string | undefined
  TOKEN.lastIndex = 0
  for (let token = TOKEN.exec(json); token !== null; token = TOKEN.exec(json)) {
    const [, text = ''] = token
    const at = TOKEN.lastIndex - text.length
    const endsMember = depth === 1 && (text === ',' || text === '}')
    if (endsMember && start >= 0) {
      member = json.slice(start, at).trim()
      start = -1
    }
    if (text === '{' || text === '[') depth += 1
    else if (text === '}' || text === ']') depth -= 1
    else if (depth === 1 && text === ':' && key === name) start = TOKEN.lastIndex
    else if (depth === 1 && start < 0 && text.startsWith('"')) key = JSON.parse(text)
  }
  return member
}

/** Adds a member with a JSON text to the JSON text of an object that has other members. */
export function withMember(json: string, name: string, text: string): string {
  return `${json.slice(0, -1)},${JSON.stringify(name)}:${text}}`
}
