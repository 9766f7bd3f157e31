// The paths that are pages. The build hands them to the server, which answers all others with 404.
export const usersPages = ["/", "/orders", "/track", "/sql", "/me", "/signin"] as const;
export const operatorsPages = ["/", "/overview", "/regions", "/tables", "/dead-letters", "/offsets", "/records", "/replay", "/verify", "/jobs", "/keys", "/sql",
  "/configuration", "/accounts", "/audit", "/me", "/signin"] as const;
