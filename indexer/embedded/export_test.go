package embedded

// CheckRoot is checkRoot.
var CheckRoot = checkRoot
