package service

// TakeReload is what the admin port does with a request for a reload.
var TakeReload = (*Service).takeReload
