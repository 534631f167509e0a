// Names of files that are no documents: those of file managers, and those that the operator does not want.

const OF_FILE_MANAGERS = /^(?:\.ds_store|thumbs\.db|desktop\.ini|\._.*)$/is
const MAC_FOLDER = /(?:^|[/\\])__MACOSX[/\\]/

/** Returns whether a file is left out. `path` may be that of an archive, `patterns` have `*` and `?`, without case. */
export function isIgnoredName(path: string | undefined, patterns: readonly string[]): boolean {
  const name = path?.split(/[/\\]/).at(-1) ?? ''
  if (OF_FILE_MANAGERS.test(name) || MAC_FOLDER.test(path ?? '')) return true
  return name !== '' && patterns.some((pattern) => matches(name.toLowerCase(), pattern.toLowerCase()))
}

/** Matches without a regular expression, whose time could grow with the power of the stars. */
function matches(text: string, patternText: string): boolean {
  const [name, pattern] = [[...text], [...patternText]]
  let [at, place, star, retry] = [0, 0, -1, 0]
  while (at < name.length) {
    if (pattern[place] === '*') [star, place, retry] = [place, place + 1, at]
    else if (pattern[place] === '?' || pattern[place] === name[at]) [place, at] = [place + 1, at + 1]
    else if (star === -1) return false
    else [place, at] = [star + 1, ++retry]
  }
  return pattern.slice(place).every((character) => character === '*')
}
