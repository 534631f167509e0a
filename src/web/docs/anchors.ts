// Redirects addresses of the reference in version 0.2.0, such as /docs#tag/rates, to its present path.

if (/^#(tag|model|description)\b/.test(location.hash)) {
  location.replace(`${location.pathname}/reference${location.hash}`)
}
