package service

// TakeReload is the admin port's handler for reloads.
var TakeReload = (*Service).takeReload
