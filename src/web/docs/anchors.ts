// Redirects addresses of the reference in version 0.2.0, such as /docs#tag/rates, to its present path.

if (/^#(tag|model|description)\b/.test(location.hash)) {
  // With the origin, since behind a proxy the path may begin with two slashes.
  location.replace(`${location.origin}${location.pathname}/reference${location.hash}`)
}
