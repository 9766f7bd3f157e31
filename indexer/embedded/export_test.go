package embedded

// CheckRoot exports checkRoot.
var CheckRoot = checkRoot
